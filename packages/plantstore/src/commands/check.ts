import { checkPlants } from '@plantstore/sqlite';
import { err, ok, type Result } from 'neverthrow';
import { writeLine } from '../settings/write-messages.ts';
import { type Command, type CommandCall, done, failed } from './command.ts';
import { createProgress, plantCount } from './progress.ts';
import { openStored, readFailure } from './stored-plants.ts';

export const check: Command = {
  argument: '',
  help: `Checks a database; the server may be running. Counts and reads every plant, as
export does, and runs the integrity check of SQLite.
An I/O error is reported as a failure of the disk, and not as damage.`,
  options: {},
  async run(call) {
    const { database, stdout } = call;
    const file = database.kind === 'sqlite' ? checkFile(database.path, call) : ok(undefined);
    if (file.isErr()) return failed(file.error);
    const read = await readEvery(call);
    if (read.isErr()) return failed(read.error);
    writeLine(stdout, file.value ?? read.value);
    if (file.value !== undefined) writeLine(stdout, 'sound');
    return done;
  },
};

const rescueAdvice =
  'restore a backup, or rescue its plants with sqlite3 .recover from a copy of the file and ' +
  'its WAL';

/** Checks a SQLite file, and returns what it has. */
function checkFile(path: string, { stdout }: CommandCall): Result<string, string> {
  return checkPlants(path)
    .mapErr(({ message }) => message)
    .andThen(({ plants, size, walSize, damage }) => {
      for (const line of damage) writeLine(stdout, line);
      return damage.length === 0
        ? ok(`${path}: ${plantCount(plants)}, ${size} bytes, and ${walSize} in its WAL file`)
        : err(`${path} is damaged: ${rescueAdvice}`);
    });
}

/** Reads every plant, and returns their number. The error names what is no plant. */
async function readEvery(call: CommandCall): Promise<Result<string, string>> {
  const progress = createProgress(call);
  let plants = 0;
  const { batches, source } = await openStored(call.database);
  for await (const read of batches) {
    if (read.isErr()) {
      progress.clear();
      return err(readFailure(read.error.message, plants));
    }
    plants += read.value.length;
    progress.show(() => `${plantCount(plants)} read`);
  }
  progress.clear();
  return ok(`${plantCount(plants)} read${source}`);
}
