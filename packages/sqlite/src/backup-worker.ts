import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { BackUpError, BackUpRefused, CopyOrder, FromBackupWorker } from './back-up-plants.ts';
import { countPlants, findDamage, openReader, readErrorOf } from './find-damage.ts';
import type { Database } from './node-sqlite.ts';
import { openErrorOf, type OpenSqliteError, unusableFileError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';
import { copyPermissions } from './owner-lock.ts';
import { type SqliteFailure, sqliteFailureOf } from './sqlite-failure.ts';
import { syncFolderOf } from './wal-file.ts';

const failed = (error: BackUpError): FromBackupWorker => ({ kind: 'failed', error });

/** Suffixes of a database, and of the files that SQLite would apply to it or share with another process. */
const suffixes = ['', '-wal', '-shm', '-journal'];

const findExisting = (to: string): string | undefined =>
  suffixes
    .map((suffix) => to + suffix)
    .find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);

const exists = (path: string, { command, to }: CopyOrder): BackUpRefused => {
  const quoted = `'${to.replaceAll("'", String.raw`'\''`)}'`;
  const advice =
    command === 'backup'
      ? 'name another file'
      : `stop the server, then move the database and the files beside it to a new folder: mkdir elsewhere && mv ${quoted}* elsewhere/`;
  return { kind: 'exists', path, message: `${path} already exists; ${advice}` };
};

/** Error codes of link(2) on a file system without hard links, such as exFAT. */
const withoutLinks: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Gives the complete copy its name, unless a file has it: unlike rename(2), link(2) never replaces a file. */
const giveName = (temporary: string, order: CopyOrder): BackUpRefused | undefined => {
  const { to: path } = order;
  try {
    linkSync(temporary, path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return exists(path, order);
    if (!withoutLinks.includes(code)) throw thrown;
    const message = `${path} is on a file system without hard links, so a file cannot be named without replacing another; name a file on another disk, and copy it from there`;
    return { kind: 'no-hard-links', path, message };
  }
  try {
    syncFolderOf(path);
    unlinkSync(temporary);
  } catch (thrown) {
    // The name may not survive a power cut. A failed copy leaves no file, and no server opens one that has two names.
    unlinkSync(path);
    throw thrown;
  }
  try {
    syncFolderOf(path);
  } catch {
    // The copy is complete and durable. After a power cut, it can have its temporary name, too.
  }
  return undefined;
};

/** The result codes SQLITE_IOERR_READ, SHORT_READ and CORRUPTFS: `VACUUM INTO` reads the source only. */
const readErrors: readonly unknown[] = [266, 522, 8458];

/** Failures of a write or of opening the copy: the source is open, and is not written to. */
const ofCopy: readonly SqliteFailure[] = ['disk-full', 'cannot-open', 'read-only'];

/** Whether `VACUUM INTO` failed because of the source, and not because the copy cannot be written. */
const isOfSource = (thrown: unknown): boolean => {
  const failure = sqliteFailureOf(thrown);
  if (failure !== undefined && ofCopy.includes(failure)) return false;
  if (failure !== 'input-output') return true;
  return thrown instanceof Error && 'errcode' in thrown && readErrors.includes(thrown.errcode);
};

/** Copies the source; returns why it cannot be read. */
const vacuumInto = (
  temporary: string,
  source: Database,
  from: string,
): OpenSqliteError | undefined => {
  try {
    // SQLite syncs the copy (PRAGMA synchronous).
    source.prepare('VACUUM INTO ?').run(temporary);
    return undefined;
  } catch (thrown) {
    if (!isOfSource(thrown)) throw thrown;
    return readErrorOf(from, thrown, source);
  }
};

const copyTo = (temporary: string, source: Database, order: CopyOrder): FromBackupWorker => {
  const unread = vacuumInto(temporary, source, order.from);
  if (unread !== undefined) return failed(unread);
  const copy = openReader(temporary);
  let plants: number;
  try {
    // VACUUM copies the rows of a damaged page without reading their columns.
    if (findDamage(copy, temporary).length > 0)
      return failed(unusableFileError(order.from, { kind: 'damaged' }));
    plants = countPlants(copy);
  } catch (thrown) {
    return failed(readErrorOf(order.to, thrown, copy, temporary));
  } finally {
    copy.close();
  }
  const { size } = statSync(temporary);
  const refused = giveName(temporary, order);
  return refused === undefined ? { kind: 'done', copy: { plants, size } } : failed(refused);
};

const removeLeft = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error of the copy is reported instead.
  }
};

/** As root, gives a copy of root's file to the owner of its folder, because the user of the server must open it. */
const giveToFolderOwner = (path: string): void => {
  if (process.geteuid?.() !== 0 || statSync(path).uid !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) chownSync(path, uid, gid);
};

/** Copies to a temporary file, and removes it unless it has become the copy. */
const copyThrough = (temporary: string, source: Database, order: CopyOrder): FromBackupWorker => {
  closeSync(openSync(temporary, 'wx', 0o600));
  try {
    // The copy of a read-only file can be written to.
    copyPermissions(order.from, temporary, 0o600);
    if (order.command === 'restore') giveToFolderOwner(temporary);
    return copyTo(temporary, source, order);
  } finally {
    removeLeft(temporary);
    removeLeft(`${temporary}-journal`);
  }
};

const copy = (order: CopyOrder): FromBackupWorker => {
  const { from, to } = order;
  let source: Database | undefined;
  try {
    const existing = findExisting(to);
    if (existing !== undefined) return failed(exists(existing, order));
    const opened = openForReading(from);
    if (opened.isErr()) return failed(opened.error);
    source = opened.value;
    const temporary = `${to}.${randomBytes(6).toString('hex')}.partial`;
    return copyThrough(temporary, source, order);
  } catch (thrown) {
    return failed(openErrorOf(to, thrown));
  } finally {
    source?.close();
  }
};

if (parentPort !== null) parentPort.postMessage(copy(workerData as CopyOrder));
