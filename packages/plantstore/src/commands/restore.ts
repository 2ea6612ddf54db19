import { restorePlants } from '@plantstore/sqlite';
import { writeLine } from '../settings/write-messages.ts';
import { type Command, done, failed, useOwnTool } from './command.ts';
import { plantCount } from './progress.ts';

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
    writeLine(stdout, `${database.path}: ${plantCount(restored.value.plants)}, checked`);
    return done;
  },
};
