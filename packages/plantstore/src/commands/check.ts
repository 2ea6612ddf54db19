import { checkPlants } from '@plantstore/sqlite';
import { writeLine } from '../settings/write-messages.ts';
import { type CommandCall, done, type CommandResult, failed, type Command } from './command.ts';
import { createProgress, plantCount } from './progress.ts';
import { readFailure, readStored } from './stored-plants.ts';

export const check: Command = {
  argument: '',
  help: `Checks a database; the server may be running. Counts and reads every plant, and
runs the integrity check of SQLite.
An I/O error is reported as a failure of the disk, and not as damage.`,
  options: {},
  run: async (call) =>
    call.database.kind === 'sqlite' ? checkSqlite(call.database.path, call) : readEvery(call),
};

function checkSqlite(path: string, { stdout }: CommandCall): CommandResult {
  const checked = checkPlants(path);
  if (checked.isErr()) return failed(checked.error.message);
  const { plants, size, walSize, damage } = checked.value;
  if (damage.length > 0) {
    for (const line of damage) writeLine(stdout, line);
    return failed(
      `${path} is damaged: restore a backup, or rescue its plants with sqlite3 .recover from a copy of the file and its WAL`,
    );
  }
  writeLine(
    stdout,
    `${path}: ${plantCount(plants)}, ${size} bytes, and ${walSize} in its WAL file`,
  );
  writeLine(stdout, 'sound');
  return done;
}

/** Reads every plant, of a database that checks its own files. */
async function readEvery(call: CommandCall): Promise<CommandResult> {
  const progress = createProgress(call);
  let plants = 0;
  let source = '';
  for await (const read of readStored(call.database, (table) => (source = ` from ${table}`))) {
    if (read.isErr()) {
      progress.clear();
      return failed(readFailure(read.error.message, plants));
    }
    plants += read.value.length;
    progress.show(() => `${plantCount(plants)} read`);
  }
  progress.clear();
  writeLine(call.stdout, `${plantCount(plants)} read${source}`);
  return done;
}
