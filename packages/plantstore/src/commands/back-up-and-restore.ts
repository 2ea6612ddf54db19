import { backUpPlants, restorePlants } from '@plantstore/sqlite';
import { done, failed, invalid, type Command, type StoredDatabase } from './command.ts';
import { plantCount } from './progress.ts';

/** What backs up and restores the other databases. */
const ownTools = {
  postgres: {
    backup: 'PostgreSQL has its own tools: pg_dump --format=custom --table=plants --file=TO',
    restore: 'PostgreSQL has its own tools: pg_restore --dbname=DATABASE FROM',
  },
} as const satisfies Record<Exclude<StoredDatabase['kind'], 'sqlite'>, unknown>;

const invalidFor = (kind: keyof typeof ownTools, command: 'backup' | 'restore') =>
  invalid(`${command} is for SQLite; ${ownTools[kind][command]}`);

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
    if (database.kind !== 'sqlite') return invalidFor(database.kind, 'backup');
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
    if (database.kind !== 'sqlite') return invalidFor(database.kind, 'restore');
    const restored = await restorePlants({ from, to: database.path });
    if (restored.isErr()) return failed(restored.error.message);
    stdout.write(`${database.path}: ${plantCount(restored.value.plants)}, checked\n`);
    return done;
  },
};
