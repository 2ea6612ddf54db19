import { linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import type { FromBackupWorker, BackupPaths } from './backup-protocol.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { resolveLinks, syncFile, syncFolderOf } from './log-file.ts';
import { backup, Database } from './node-sqlite.ts';
import { openErrorOf, unusableFileError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';
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

const existsFailure = (path: string): FromBackupWorker => ({
  kind: 'failed',
  error: { kind: 'exists', path, message: `${path} already exists; name another file` },
});

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Returns an existing file that prevents the backup: the copy, a `-wal` or `-journal` file that SQLite would apply to it, or the source at the partial path. */
const findObstacle = ({ from, to, partial }: BackupPaths): string | undefined =>
  resolveLinks(from) === resolveLinks(partial)
    ? partial
    : [to, `${to}-wal`, `${to}-journal`].find(exists);

/** Moves the complete copy to its path. Returns `false` if a file exists there. */
const moveToPath = ({ to, partial }: BackupPaths): boolean => {
  try {
    linkSync(partial, to);
  } catch {
    // Either the path exists, or the file system has no hard links.
    if (exists(to)) return false;
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
    return { kind: 'failed', error: unusableFileError(paths.from, { kind: 'damaged' }) };
  }
  if (!isSameFile(identity, identityOf(partial))) {
    return { kind: 'failed', error: unusableFileError(partial, { kind: 'locked' }) };
  }
  if (!moveToPath(paths)) {
    remove(partial);
    return existsFailure(to);
  }
  syncFolderOf(to);
  return { kind: 'done', plants, size: statSync(to).size };
};

const backUp = async (paths: BackupPaths, onProgress: Progress): Promise<FromBackupWorker> => {
  let source: Database | undefined;
  try {
    const found = findObstacle(paths);
    if (found !== undefined) return existsFailure(found);
    const opened = openForReading(paths.from);
    if (opened.isErr()) return { kind: 'failed', error: opened.error };
    source = opened.value;
    return await copyAndVerify(source, paths, onProgress);
  } catch (thrown) {
    // A damaged copy means that the source is damaged.
    const isDamaged = sqliteFailureOf(thrown) === 'damaged';
    const error = openErrorOf(isDamaged ? paths.from : paths.partial, thrown);
    if (error === undefined) throw thrown;
    tryToRemove(paths.partial);
    return { kind: 'failed', error };
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
