import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import type { FromBackupWorker, BackupPaths } from './backup-protocol.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { syncFolderOf, withoutLinks } from './log-file.ts';
import { backup, Database } from './node-sqlite.ts';
import { openErrorOf, unusableFileError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

type Progress = (copied: number, total: number) => void;

/** Pages that are copied at a time: 4 MiB. */
const rate = 1_024;

const countPlants = (database: Database): number =>
  Number(database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants']);

const remove = (partial: string): void => {
  for (const name of [partial, `${partial}-journal`]) rmSync(name, { force: true });
};

const tryToRemove = (partial: string): void => {
  try {
    remove(partial);
  } catch {
    // The backup has failed for the same reason.
  }
};

const sync = (path: string): void => {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

/** Whether a copy is sound and has as many plants. */
const isWhole = (path: string, plants: number): boolean => {
  // Immutable: it has no log, and none is made.
  const database = new Database(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
  try {
    const checks = database.prepare('PRAGMA integrity_check').all();
    return checks[0]?.['integrity_check'] === 'ok' && countPlants(database) === plants;
  } finally {
    database.close();
  }
};

const exists = (path: string): FromBackupWorker => ({
  kind: 'failed',
  error: { kind: 'exists', path, message: `${path} exists already; name another file` },
});

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** A file in the way of a copy: of its name, one that SQLite would apply to it, or the source under its first name. */
const inTheWay = ({ from, to, partial }: BackupPaths): string | undefined =>
  withoutLinks(from) === withoutLinks(partial)
    ? partial
    : [to, `${to}-wal`, `${to}-journal`].find(isThere);

/** Names the copy, and replaces nothing. Returns whether it did. */
const nameCopy = ({ to, partial }: BackupPaths): boolean => {
  try {
    linkSync(partial, to);
  } catch {
    // Also where the file system has no links.
    if (isThere(to)) return false;
    renameSync(partial, to);
  }
  rmSync(partial, { force: true });
  return true;
};

const copyAndVerify = async (
  source: Database,
  paths: BackupPaths,
  onProgress: Progress,
): Promise<FromBackupWorker> => {
  const { to, partial } = paths;
  remove(partial);
  let identity: FileIdentity | undefined;
  // In a transaction: otherwise every commit meanwhile would make the copy begin anew.
  source.exec('BEGIN');
  const plants = countPlants(source);
  await backup(source, partial, {
    rate,
    progress: ({ totalPages, remainingPages }) => {
      identity ??= identityOf(partial);
      onProgress(totalPages - remainingPages, totalPages);
    },
  });
  identity ??= identityOf(partial);
  sync(partial);
  if (!isWhole(partial, plants)) {
    remove(partial);
    return { kind: 'failed', error: unusableFileError(paths.from, { kind: 'damaged' }) };
  }
  if (!isSameFile(identity, identityOf(partial))) {
    return { kind: 'failed', error: unusableFileError(partial, { kind: 'locked' }) };
  }
  if (!nameCopy(paths)) {
    remove(partial);
    return exists(to);
  }
  syncFolderOf(to);
  return { kind: 'done', plants, size: statSync(to).size };
};

const backUp = async (paths: BackupPaths, onProgress: Progress): Promise<FromBackupWorker> => {
  let source: Database | undefined;
  try {
    const found = inTheWay(paths);
    if (found !== undefined) return exists(found);
    const opened = openForReading(paths.from);
    if (opened.isErr()) return { kind: 'failed', error: opened.error };
    source = opened.value;
    return await copyAndVerify(source, paths, onProgress);
  } catch (thrown) {
    // A damaged copy is one of a damaged file.
    const isDamaged = sqliteFailureOf(thrown) === 'damaged';
    const error = openErrorOf(isDamaged ? paths.from : paths.partial, thrown);
    if (error === undefined) throw thrown;
    tryToRemove(paths.partial);
    return { kind: 'failed', error };
  } finally {
    source?.close();
  }
};

const serve = async (port: MessagePort, paths: BackupPaths): Promise<void> => {
  const tell = (message: FromBackupWorker) => port.postMessage(message);
  tell(await backUp(paths, (copied, total) => tell({ kind: 'progress', copied, total })));
  port.close();
};

if (parentPort !== null) await serve(parentPort, workerData as BackupPaths);
