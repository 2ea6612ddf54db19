import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, linkSync, lstatSync, openSync, statSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from '../open/connection.ts';
import { failureOf, openError, resultCodeOf } from '../open/errors.ts';
import { copyPermissions } from '../open/owner-lock.ts';
import { explain } from '../open/path-faults.ts';
import { syncFolderOf } from '../open/path.ts';
import { findUnusable } from '../open/table.ts';
import type { BackUpRefused, Copied, CopyOrder } from './back-up-plants.ts';
import { countSql, findDamage, openForReading, openReader, readErrorOf } from './reader.ts';

function copy(order: CopyOrder): Copied {
  const { from, to } = order;
  let source: Database | undefined;
  try {
    const names = suffixes.map((suffix) => to + suffix);
    const existing = names.find((name) => lstatSync(name, { throwIfNoEntry: false }) !== undefined);
    if (existing !== undefined) return exists(existing, order);
    const opened = openForReading(from);
    if (opened.isErr()) return opened.error;
    source = opened.value;
    // A start would refuse the copy.
    const unusable = order.command === 'restore' ? findUnusable(source, false) : undefined;
    if (unusable !== undefined) return openError(from, unusable);
    const temporary = `${to}.${randomBytes(6).toString('hex')}.partial`;
    return copyThrough(temporary, source, order);
  } catch (thrown) {
    return explain(to, thrown);
  } finally {
    source?.close();
  }
}

/** Copies to a temporary file, and removes it unless it has become the copy. */
function copyThrough(temporary: string, source: Database, order: CopyOrder): Copied {
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
}

function copyTo(temporary: string, source: Database, order: CopyOrder): Copied {
  try {
    // SQLite syncs the copy (PRAGMA synchronous).
    source.prepare('VACUUM INTO ?').run(temporary);
  } catch (thrown) {
    if (!isOfSource(thrown)) throw thrown;
    return readErrorOf(order.from, thrown, source);
  }
  const copied = openReader(temporary);
  let plants: number;
  try {
    // VACUUM copies the rows of a damaged page without reading their columns.
    if (findDamage(copied, temporary).length > 0) return openError(order.from, { kind: 'damaged' });
    plants = Number(copied.read(countSql));
  } catch (thrown) {
    return readErrorOf(order.to, thrown, copied, temporary);
  } finally {
    copied.close();
  }
  const { size } = statSync(temporary);
  return giveName(temporary, order) ?? { plants, size };
}

/** Gives the copy its name, unless a file has it: unlike rename(2), link(2) replaces no file. */
function giveName(temporary: string, order: CopyOrder): BackUpRefused | undefined {
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
    unlinkSync(temporary);
    syncFolderOf(path);
  } catch (thrown) {
    // The name may not survive a power cut. A failed copy leaves no file.
    unlinkSync(path);
    throw thrown;
  }
  return undefined;
}

/** Suffixes of a database, and of the files that SQLite would apply to it or share with another process. */
const suffixes = ['', '-wal', '-shm', '-journal'];

/** Error codes of link(2) on a file system without hard links, such as exFAT. */
const withoutLinks: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** The result codes SQLITE_IOERR_READ, SHORT_READ and CORRUPTFS: `VACUUM INTO` reads the source only. */
const readErrors: readonly unknown[] = [266, 522, 8458];

/** Failures of a write or of opening the copy: the source is open, and is not written to. */
const ofCopy: readonly unknown[] = ['disk-full', 'cannot-open', 'read-only'];

/** Whether `VACUUM INTO` failed because of the source, and not because the copy cannot be written. */
function isOfSource(thrown: unknown): boolean {
  const failure = failureOf(thrown);
  return failure === 'input-output'
    ? readErrors.includes(resultCodeOf(thrown))
    : !ofCopy.includes(failure);
}

function exists(path: string, { command, to }: CopyOrder): BackUpRefused {
  const quoted = `'${to.replaceAll("'", String.raw`'\''`)}'`;
  const advice =
    command === 'backup'
      ? 'name another file'
      : `stop the server, then move the database and the files beside it to a new folder: mkdir elsewhere && mv ${quoted}* elsewhere/`;
  return { kind: 'exists', path, message: `${path} already exists; ${advice}` };
}

/** As root, gives a copy of root's file to the owner of its folder: the server must open it. */
function giveToFolderOwner(path: string): void {
  if (process.geteuid?.() !== 0 || statSync(path).uid !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) chownSync(path, uid, gid);
}

function removeLeft(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The error of the copy is reported instead.
  }
}

if (parentPort !== null) {
  parentPort.postMessage(copy(workerData as CopyOrder));
  // What other code has left in the event loop must not keep the thread alive.
  process.exit();
}
