import { linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import type { BackUpError, BackupPaths, FromBackupWorker } from './backup-protocol.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { logSize, resolveLinks, syncFile, syncFolderOf } from './log-file.ts';
import { backup, Database } from './node-sqlite.ts';
import { openErrorOf, unusableFileError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';
import { ownerLockPathOf } from './owner-lock.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

type Progress = (copied: number, total: number) => void;

/** Number of pages in one step of the copy: 4 MiB. */
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
    // The error of the backup is reported instead.
  }
};

/** Whether a copy passes the integrity check and has this number of plants. */
const isComplete = (path: string, plants: number): boolean => {
  // SQLite opens an immutable database without a WAL file, and creates none.
  const database = new Database(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
  try {
    const checks = database.prepare('PRAGMA integrity_check').all();
    return checks[0]?.['integrity_check'] === 'ok' && countPlants(database) === plants;
  } finally {
    database.close();
  }
};

const failed = (error: BackUpError): FromBackupWorker => ({ kind: 'failed', error });

const existsFailure = (path: string, how = 'already exists'): FromBackupWorker =>
  failed({ kind: 'exists', path, message: `${path} ${how}; name another file` });

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Whether a repository has or had the file open, or SQLite would apply a WAL file to it. */
const isUsed = (path: string): boolean => exists(ownerLockPathOf(path)) || logSize(path) > 0;

/** Returns why the file at the path of the copy may not be replaced. */
const findUse = (to: string): FromBackupWorker | undefined => {
  if ([to, resolveLinks(to)].some(isUsed)) {
    return existsFailure(to, 'is or was the database of a host, not a backup');
  }
  return statSync(to, { throwIfNoEntry: false })?.isFile() === false
    ? failed(unusableFileError(to, { kind: 'cannot-open' }))
    : undefined;
};

/** Suffixes of the files that SQLite and a repository keep beside a database. */
const suffix = /-(?:wal|shm|journal|owner)$/;

/** Whether a path is that of a file beside a database that a repository has or had open. */
const isBesideUsed = (path: string): boolean =>
  suffix.test(path) && isUsed(path.replace(suffix, ''));

/** Returns why no copy may be written: SQLite would apply a `-wal` or `-journal` file to it, for example. */
const findObstacle = ({
  from,
  to,
  partial,
  replace,
}: BackupPaths): FromBackupWorker | undefined => {
  const taken = replace ? [`${to}-journal`] : [to, `${to}-wal`, `${to}-journal`];
  const found = resolveLinks(from) === resolveLinks(partial) ? partial : taken.find(exists);
  if (found !== undefined) return existsFailure(found);
  if ([to, resolveLinks(to)].some(isBesideUsed)) {
    return existsFailure(to, 'belongs to the database of a host');
  }
  return replace ? findUse(to) : undefined;
};

/** Moves the complete copy to its path. Returns why it may not be there. */
const moveToPath = (paths: BackupPaths): FromBackupWorker | undefined => {
  const { to, partial, replace } = paths;
  if (replace) {
    const obstacle = findObstacle(paths);
    if (obstacle === undefined) renameSync(partial, to);
    return obstacle;
  }
  try {
    linkSync(partial, to);
  } catch {
    // Either the path exists, or the file system has no hard links.
    if (exists(to)) return existsFailure(to);
    renameSync(partial, to);
  }
  rmSync(partial, { force: true });
  return undefined;
};

const copyAndVerify = async (
  source: Database,
  paths: BackupPaths,
  onProgress: Progress,
): Promise<FromBackupWorker> => {
  const { to, partial } = paths;
  remove(partial);
  let identity: FileIdentity | undefined;
  // A read transaction keeps the snapshot: otherwise each commit would restart the copy.
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
  syncFile(partial);
  if (!isComplete(partial, plants)) {
    remove(partial);
    return failed(unusableFileError(paths.from, { kind: 'damaged' }));
  }
  if (!isSameFile(identity, identityOf(partial))) {
    return failed(unusableFileError(partial, { kind: 'locked' }));
  }
  const obstacle = moveToPath(paths);
  if (obstacle !== undefined) {
    remove(partial);
    return obstacle;
  }
  syncFolderOf(to);
  return { kind: 'done', plants, size: statSync(to).size };
};

const backUp = async (paths: BackupPaths, onProgress: Progress): Promise<FromBackupWorker> => {
  let source: Database | undefined;
  try {
    const obstacle = findObstacle(paths);
    if (obstacle !== undefined) return obstacle;
    const opened = openForReading(paths.from);
    if (opened.isErr()) return failed(opened.error);
    source = opened.value;
    return await copyAndVerify(source, paths, onProgress);
  } catch (thrown) {
    // A damaged copy means that the source is damaged.
    const isDamaged = sqliteFailureOf(thrown) === 'damaged';
    const error = openErrorOf(isDamaged ? paths.from : paths.partial, thrown);
    if (error === undefined) throw thrown;
    tryToRemove(paths.partial);
    return failed(error);
  } finally {
    source?.close();
  }
};

const runWorker = async (port: MessagePort, paths: BackupPaths): Promise<void> => {
  const send = (message: FromBackupWorker) => port.postMessage(message);
  send(await backUp(paths, (copied, total) => send({ kind: 'progress', copied, total })));
  port.close();
};

if (parentPort !== null) await runWorker(parentPort, workerData as BackupPaths);
