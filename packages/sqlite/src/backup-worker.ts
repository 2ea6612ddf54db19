import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import type { FromBackupWorker, BackupPaths } from './backup-protocol.ts';
import { type FileIdentity, identityOf, isSameFile } from './file-identity.ts';
import { syncFolderOf } from './log-file.ts';
import { backup, Database } from './node-sqlite.ts';
import { openErrorOf, unusableFileError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';

type Progress = (copied: number, total: number) => void;

/** Pages that are copied at a time: 4 MiB. */
const rate = 1_024;

const countPlants = (database: Database): number =>
  Number(database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants']);

const remove = (partial: string): void => {
  for (const name of [partial, `${partial}-journal`]) rmSync(name, { force: true });
};

/** Copies the plants of one moment, and returns how many. */
const copy = async (source: Database, partial: string, onProgress: Progress): Promise<number> => {
  // In a transaction: otherwise every commit meanwhile would make the copy begin anew.
  source.exec('BEGIN');
  const plants = countPlants(source);
  await backup(source, partial, {
    rate,
    progress: ({ totalPages, remainingPages }) =>
      onProgress(totalPages - remainingPages, totalPages),
  });
  return plants;
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

const copyAndVerify = async (
  source: Database,
  { to, partial }: BackupPaths,
  onProgress: Progress,
): Promise<FromBackupWorker> => {
  remove(partial);
  let identity: FileIdentity | undefined;
  const plants = await copy(source, partial, (copied, total) => {
    identity ??= identityOf(partial);
    onProgress(copied, total);
  });
  identity ??= identityOf(partial);
  sync(partial);
  if (!isWhole(partial, plants)) {
    remove(partial);
    return { kind: 'failed', error: unusableFileError(partial, { kind: 'damaged' }) };
  }
  if (!isSameFile(identity, identityOf(partial))) {
    return { kind: 'failed', error: unusableFileError(partial, { kind: 'locked' }) };
  }
  renameSync(partial, to);
  syncFolderOf(to);
  return { kind: 'done', plants, size: statSync(to).size };
};

const backUp = async (paths: BackupPaths, onProgress: Progress): Promise<FromBackupWorker> => {
  const opened = openForReading(paths.from);
  if (opened.isErr()) return { kind: 'failed', error: opened.error };
  try {
    return await copyAndVerify(opened.value, paths, onProgress);
  } catch (thrown) {
    const error = openErrorOf(paths.partial, thrown);
    if (error === undefined) throw thrown;
    remove(paths.partial);
    return { kind: 'failed', error };
  } finally {
    opened.value.close();
  }
};

const serve = async (port: MessagePort, paths: BackupPaths): Promise<void> => {
  const tell = (message: FromBackupWorker) => port.postMessage(message);
  tell(await backUp(paths, (copied, total) => tell({ kind: 'progress', copied, total })));
  port.close();
};

if (parentPort !== null) await serve(parentPort, workerData as BackupPaths);
