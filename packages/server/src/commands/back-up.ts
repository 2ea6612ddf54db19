import { renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backUpPlants, restorePlants } from '@plantstore/sqlite';
import { done, failed, type RunCommand, wrong } from './command.ts';
import { fileFault } from './file-fault.ts';
import { syncFolder } from './output.ts';
import { createProgress, percent, plantsIn } from './progress.ts';

const wrongForPostgres = (command: string, tool: string) =>
  wrong(`${command} is for SQLite; PostgreSQL has its own tools: ${tool}`);

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Whether a host has used a file: its log could mix with another file of this name. */
const isUsedByHost = (path: string): boolean =>
  exists(`${path}-owner`) || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

const bytes = (size: number): string => `${size} bytes`;

/** Copies the SQLite file of a host, running or not. */
export const backUp: RunCommand = async (call) => {
  const { database, file: to = '', replace, stdout } = call;
  if (database.kind === 'postgres') {
    return wrongForPostgres('backup', 'pg_dump --format=custom --table=plants --file=TO');
  }
  if (replace && isUsedByHost(to)) {
    return failed(`${to} is or was the database of a host, not a backup: name another file`);
  }
  const progress = createProgress(call);
  // It takes the place of the other backup when it is complete.
  const target = replace ? `${to}.new` : to;
  try {
    if (replace) rmSync(target, { force: true });
    const backedUp = await backUpPlants({
      from: database.path,
      to: target,
      onProgress: ({ copied, total }) => progress.show(() => `${percent(copied, total)} copied`),
    });
    progress.clear();
    if (backedUp.isErr()) {
      const { kind, message } = backedUp.error;
      return failed(kind === 'exists' ? `${message}, or add --replace` : message);
    }
    if (replace) {
      renameSync(target, to);
      await syncFolder(dirname(to));
    }
    const { plants, size } = backedUp.value;
    stdout.write(`${to}: ${plantsIn(plants)}, ${bytes(size)}, checked\n`);
    return done;
  } catch (thrown) {
    return failed(`cannot write ${to}: ${fileFault(thrown)}`);
  }
};

/** Puts a backup in the place of a SQLite file that no host has. */
export const restore: RunCommand = async (call) => {
  const { database, file: from = '', stdout } = call;
  if (database.kind === 'postgres') {
    return wrongForPostgres('restore', 'pg_restore --dbname=DATABASE FROM');
  }
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
  stdout.write(`${database.path}: ${plantsIn(plants)}, checked\n`);
  if (kept !== undefined) stdout.write(`what it replaces is kept as ${kept}\n`);
  return done;
};
