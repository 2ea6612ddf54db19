import { checkPlants } from '@plantstore/sqlite';
import { writeLine } from '../settings/write-messages.ts';
import { type Command, type CommandCall, type CommandResult, done, failed } from './command.ts';
import { createProgress, plantCount } from './progress.ts';
import { openStored, readFailure } from './stored-plants.ts';

export const check: Command = {
  argument: '',
  help: `Checks a database; the server may be running. Counts and reads every plant, as
export does, and runs the integrity check of SQLite.
An I/O error is reported as a failure of the disk, and not as damage.`,
  options: {},
  async run(call) {
    const { database } = call;
    return database.kind === 'sqlite' ? checkFile(database.path, call) : readEvery(call);
  },
};

const rescueAdvice =
  'restore a backup, or rescue its plants with sqlite3 .recover from a copy of the file and ' +
  'its WAL';

/** Checks a SQLite file, which reads every plant. */
function checkFile(path: string, { stdout }: CommandCall): CommandResult {
  const checked = checkPlants(path);
  if (checked.isErr()) return failed(checked.error.message);
  const { plants, size, walSize, damage } = checked.value;
  for (const line of damage) writeLine(stdout, line);
  if (damage.length > 0) return failed(`${path} is damaged: ${rescueAdvice}`);
  writeLine(
    stdout,
    `${path}: ${plantCount(plants)}, ${size} bytes, and ${walSize} in its WAL file`,
  );
  writeLine(stdout, 'sound');
  return done;
}

/** Reads every plant of PostgreSQL. An error names what is no plant. */
async function readEvery(call: CommandCall): Promise<CommandResult> {
  const progress = createProgress(call);
  let plants = 0;
  const { batches, source } = await openStored(call.database);
  for await (const read of batches) {
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
