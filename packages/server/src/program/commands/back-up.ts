import { backUpPlants, restorePlants } from '@plantstore/sqlite';
import { done, failed, invalid, type RunCommand, type StoredDatabase } from './command.ts';
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
export const backUp: RunCommand = async ({ database, file: to = '', stdout }) => {
  if (database.kind !== 'sqlite') return invalidFor(database.kind, 'backup');
  const backedUp = await backUpPlants({ from: database.path, to });
  if (backedUp.isErr()) return failed(backedUp.error.message);
  const { plants, size } = backedUp.value;
  stdout.write(`${to}: ${plantCount(plants)}, ${size} bytes, checked\n`);
  return done;
};

/** Creates the SQLite file of a server as a copy of a backup. */
export const restore: RunCommand = async ({ database, file: from = '', stdout }) => {
  if (database.kind !== 'sqlite') return invalidFor(database.kind, 'restore');
  const restored = await restorePlants({ from, to: database.path });
  if (restored.isErr()) return failed(restored.error.message);
  stdout.write(`${database.path}: ${plantCount(restored.value.plants)}, checked\n`);
  return done;
};
