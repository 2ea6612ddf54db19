import { backUpPlants } from '@plantstore/sqlite';
import { writeLine } from '../settings/write-messages.ts';
import { type Command, done, failed, useOwnTool } from './command.ts';
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
    writeLine(stdout, `${to}: ${plantCount(plants)}, ${size} bytes, checked`);
    return done;
  },
};
