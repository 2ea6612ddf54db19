import { backUpPlants, restorePlants } from '@plantstore/sqlite';
import { done, failed, invalid, type Command } from './command.ts';
import { plantCount } from './progress.ts';

/** Copies the SQLite file of a server, running or not. */
export const backUp: Command = {
  argument: 'TO',
  help: `Copies a SQLite database to the new file TO; the server may be running. The copy
has every plant that was acknowledged before the command started. TO gets its
name once it is complete, checked and on the disk. An existing file is never
replaced. A command that is killed leaves no TO, but can leave a file
TO.RANDOM.partial, which can be removed.`,
  options: {},
  async run({ database, file: to = '', stdout }) {
    if (database.kind === 'postgres')
      return useOwnTool('backup', 'pg_dump --format=custom --table=plants --file=TO');
    const backedUp = await backUpPlants({ from: database.path, to });
    if (backedUp.isErr()) return failed(backedUp.error.message);
    const { plants, size } = backedUp.value;
    stdout.write(`${to}: ${plantCount(plants)}, ${size} bytes, checked\n`);
    return done;
  },
};

/** Creates the SQLite file of a server as a copy of a backup. */
export const restore: Command = {
  argument: 'FROM',
  help: `Creates the database as a copy of the SQLite file FROM, as backup does. An
existing database is never replaced: stop the server, then move the database and
the files beside it to a new folder:
mkdir elsewhere && mv plants.db* elsewhere/
If interrupted, run it again.`,
  options: {},
  async run({ database, file: from = '', stdout }) {
    if (database.kind === 'postgres')
      return useOwnTool('restore', 'pg_restore --dbname=DATABASE FROM');
    const restored = await restorePlants({ from, to: database.path });
    if (restored.isErr()) return failed(restored.error.message);
    stdout.write(`${database.path}: ${plantCount(restored.value.plants)}, checked\n`);
    return done;
  },
};

const useOwnTool = (command: string, tool: string) =>
  invalid(`${command} is for SQLite; PostgreSQL has its own tools: ${tool}`);
