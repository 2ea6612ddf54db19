import { checkPlants, type PlantsCheck } from '@plantstore/sqlite';
import { type CommandCall, done, type CommandResult, failed, type Command } from './command.ts';
import { createProgress, plantCount } from './progress.ts';
import { readFailure, readStored } from './stored-plants.ts';

const exportCommands = (path: string, { readable }: PlantsCheck): string => {
  const database = `'sqlite:${path.replaceAll("'", String.raw`'\''`)}'`;
  return readable
    .map(
      ({ from, to }, index) =>
        `  plantstore-server export --database ${database} --from-id=${from} --to-id=${to} > part-${index + 1}.ndjson\n`,
    )
    .join('');
};

const checkSqlite = (path: string, { stdout }: CommandCall): CommandResult => {
  const checked = checkPlants(path);
  if (checked.isErr()) return failed(checked.error.message);
  const { plants, size, walSize, damage, readable } = checked.value;
  stdout.write(`${path}: ${plantCount(plants)}, ${size} bytes, and ${walSize} in its WAL file\n`);
  if (damage.length === 0) {
    stdout.write('sound\n');
    return done;
  }
  stdout.write(damage.map((line) => `${line}\n`).join(''));
  if (readable.length > 0) {
    const parts = exportCommands(path, checked.value);
    stdout.write(`these commands export the plants that can still be read:\n${parts}`);
  }
  return failed(`${path} is damaged: restore a backup, or export what can be read`);
};

/** Reads every plant, of a database that checks its own files. */
const readEvery = async (call: CommandCall): Promise<CommandResult> => {
  const progress = createProgress(call);
  let plants = 0;
  for await (const read of readStored(call.database, undefined)) {
    if (read.isErr()) {
      progress.clear();
      return failed(readFailure(read.error.message, plants));
    }
    plants += read.value.length;
    progress.show(() => `${plantCount(plants)} read`);
  }
  progress.clear();
  call.stdout.write(`${plantCount(plants)} read\n`);
  return done;
};

/** Checks a database and prints its number of plants. */
export const check: Command = {
  argument: '',
  help: `Checks a database; the server may be running. Counts and reads every plant, and
runs the integrity check of SQLite.
For a damaged file, it prints the commands that export the plants that can still
be read. An I/O error is reported as a failure of the disk, and not as damage.`,
  options: [],
  run: async (call) =>
    call.database.kind === 'sqlite' ? checkSqlite(call.database.path, call) : readEvery(call),
};
