import { backUpPlants, restorePlants } from '@plantstore/sqlite';
import { done, failed, invalid, type RunCommand, type StoredDatabase } from './command.ts';
import { createProgress, percent, plantCount } from './progress.ts';

/** What backs up and restores the other databases. */
const ownTools = {
  postgres: {
    backup: 'PostgreSQL has its own tools: pg_dump --format=custom --table=plants --file=TO',
    restore: 'PostgreSQL has its own tools: pg_restore --dbname=DATABASE FROM',
  },
} as const satisfies Record<Exclude<StoredDatabase['kind'], 'sqlite'>, unknown>;

const invalidFor = (kind: keyof typeof ownTools, command: 'backup' | 'restore') =>
  invalid(`${command} is for SQLite; ${ownTools[kind][command]}`);

/** Copies the SQLite file of a host, running or not. */
export const backUp: RunCommand = async (call) => {
  const { database, file: to = '', replace, stdout } = call;
  if (database.kind !== 'sqlite') return invalidFor(database.kind, 'backup');
  const progress = createProgress(call);
  const backedUp = await backUpPlants({
    from: database.path,
    to,
    replace,
    onProgress: ({ copied, total }) => progress.show(() => `${percent(copied, total)} copied`),
  });
  progress.clear();
  if (backedUp.isErr()) {
    const { kind, message } = backedUp.error;
    return failed(kind === 'exists' && !replace ? `${message}, or add --replace` : message);
  }
  const { plants, size } = backedUp.value;
  stdout.write(`${to}: ${plantCount(plants)}, ${size} bytes, checked\n`);
  return done;
};

/** Replaces a SQLite file that no host uses with a backup. */
export const restore: RunCommand = async (call) => {
  const { database, file: from = '', stdout } = call;
  if (database.kind !== 'sqlite') return invalidFor(database.kind, 'restore');
  const progress = createProgress(call);
  const restored = await restorePlants({
    from,
    to: database.path,
    onProgress: ({ copied, total }) => progress.show(() => `${percent(copied, total)} copied`),
  });
  progress.clear();
  if (restored.isErr()) {
    const { kind, message } = restored.error;
    return failed(kind === 'locked' ? `${message}: stop the host first` : message);
  }
  const { plants, kept } = restored.value;
  stdout.write(`${database.path}: ${plantCount(plants)}, checked\n`);
  if (kept !== undefined) stdout.write(`the replaced file is kept as ${kept}\n`);
  return done;
};
