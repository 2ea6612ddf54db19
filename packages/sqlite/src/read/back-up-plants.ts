import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { codeOf, failureOf, openError, resultCodeOf } from '../open/errors.ts';
import type { OpenSqliteError } from '../open/errors.ts';
import { copyPermissions } from '../open/owner-lock.ts';
import { explain, findContentFault } from '../open/faults.ts';
import { absolutePath, release, syncFolderOf } from '../open/path.ts';
import { countPlants } from './plant-reader.ts';
import { Reader } from './reader.ts';

/**
 * Copies a database file, while a repository may have it open and create plants. Blocks the thread
 * while it copies. The copy contains every plant that was acknowledged before the backup started,
 * and is complete without a WAL file. `VACUUM INTO` writes it to a file `TO.RANDOM.partial`, which
 * an interrupted backup can leave; it gets its name, which no file may have, once it is checked and
 * synced. The WAL of the source cannot be reset meanwhile.
 *
 * @returns the number of plants and the size of the copy, or the reason why the backup failed
 * @example
 * ```ts
 * import { backUpPlants } from '@plantstore/sqlite';
 *
 * const backedUp = await backUpPlants({ from: 'plants.db', to: 'backup.db' });
 * if (backedUp.isErr()) throw new Error(backedUp.error.message);
 * console.log(`plants: ${backedUp.value.plants}`);
 * ```
 */
export function backUpPlants(options: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> {
  return copy(options, { advice: () => 'name another file' });
}

/**
 * Creates a database file as a copy of a backup, in the same way as {@link backUpPlants}. Never
 * replaces a database: close and move an existing one away first, with the files beside it. As
 * root, the file belongs to the owner of the backup, or of its folder if the backup is root's.
 *
 * @returns the number of plants and the size of the file, or the reason why the restore failed
 */
export function restorePlants(options: BackUpOptions): ResultAsync<PlantsBackup, BackUpError> {
  const advice = (to: string) =>
    'stop the server, then move the database and the files beside it to a new folder: ' +
    `mkdir elsewhere && mv '${to.replaceAll("'", String.raw`'\''`)}'* elsewhere/`;
  return copy(options, { advice, mustBeUsable: true });
}

/** Options of {@link backUpPlants} and {@link restorePlants}. */
export type BackUpOptions = {
  /** Path of the file to copy, absolute or relative to the working directory. It is not changed. */
  readonly from: string;
  /** Path of the copy. It may not exist, nor a `-wal`, `-shm` or `-journal` file beside it. */
  readonly to: string;
};

/** Reason why a backup or a restore failed. `path` is the affected file. */
export type BackUpError = OpenSqliteError | BackUpRefused;

/** The copy cannot have its name, which a file has, or cannot get it without hard links. */
export type BackUpRefused = Pick<OpenSqliteError, 'path' | 'message'> & {
  /** Discriminates the error from {@link OpenSqliteError}. */
  readonly kind: 'exists' | 'no-hard-links';
};

/** A complete copy, synced to the disk. */
export type PlantsBackup = {
  /** Number of plants in the copy. */
  readonly plants: number;
  /** Size of the copy, in bytes. */
  readonly size: number;
};

/** Advice for a copy that exists, and whether a start must accept it. */
type Copying = { readonly advice: (to: string) => string; readonly mustBeUsable?: boolean };

function copy(options: BackUpOptions, copying: Copying): ResultAsync<PlantsBackup, BackUpError> {
  const copied = absolutePath(options.to).andThen((to): Result<PlantsBackup, BackUpError> => {
    let source: Reader | undefined;
    try {
      const temporary = `${to}.${randomBytes(6).toString('hex')}.partial`;
      // SQLite would apply such files to the copy, or share them. A name that is too long fails.
      const names = ['', '-wal', '-shm', '-journal'].map((suffix) => to + suffix);
      names.push(`${temporary}-journal`);
      const existing = names.find((name) => fs.lstatSync(name, { throwIfNoEntry: false }));
      if (existing !== undefined) return err(exists(existing, copying.advice(to)));
      const opened = Reader.open(options.from);
      if (opened.isErr()) return err(opened.error);
      source = opened.value;
      return copyOf(source, { temporary, to }, copying);
    } catch (thrown) {
      return err(explain(to, thrown));
    } finally {
      source?.close();
    }
  });
  return new ResultAsync(Promise.resolve(copied));
}

type Target = Record<'temporary' | 'to', string>;

/** Copies to a temporary file, and removes it unless it has become the copy. */
function copyOf(
  source: Reader,
  { temporary, to }: Target,
  { advice, mustBeUsable = false }: Copying,
): Result<PlantsBackup, BackUpError> {
  const unusable = mustBeUsable ? findContentFault(source, source.file, 'own') : undefined;
  if (unusable !== undefined) return err(openError(source.path, unusable));
  fs.closeSync(fs.openSync(temporary, 'wx', 0o600));
  try {
    // The copy of a read-only file can be written to.
    copyPermissions(source.file, temporary, 0o600);
    if (mustBeUsable) giveToFolderOwner(temporary);
    return fill(temporary, to, source).andThen((backup) => {
      const refused = giveName(temporary, to, advice(to));
      return refused === undefined ? ok(backup) : err(refused);
    });
  } finally {
    release(() => fs.unlinkSync(temporary));
    release(() => fs.unlinkSync(`${temporary}-journal`));
  }
}

function fill(
  temporary: string,
  to: string,
  source: Reader,
): Result<PlantsBackup, OpenSqliteError> {
  try {
    // SQLite syncs the copy (PRAGMA synchronous).
    source.prepare('VACUUM INTO ?').run(temporary);
  } catch (thrown) {
    if (!isOfSource(thrown)) throw thrown;
    return err(source.explain(thrown));
  }
  const overwritten = source.findOverwritten();
  if (overwritten !== undefined) return err(overwritten);
  const copied = new Reader(to, temporary);
  try {
    // VACUUM copies the rows of a damaged page without reading their columns.
    if (copied.findDamage().length > 0) return err(openError(source.path, { fault: 'damaged' }));
    const plants = Number(copied.read('SELECT count(*) FROM plants'));
    const { size } = fs.statSync(temporary);
    // In the source, so that an error names it.
    return countPlants(source).map(() => ({ plants, size }));
  } finally {
    copied.close();
  }
}

/** Gives the copy its name, unless a file has it: unlike rename(2), link(2) replaces no file. */
function giveName(temporary: string, path: string, advice: string): BackUpRefused | undefined {
  try {
    fs.linkSync(temporary, path);
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'EEXIST') return exists(path, advice);
    // A file system without hard links, such as exFAT.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(String(code))) throw thrown;
    const message =
      `${path} is on a file system without hard links, so a file cannot be named without ` +
      'replacing another; name a file on another disk, and copy it from there';
    return { kind: 'no-hard-links', path, message };
  }
  try {
    fs.unlinkSync(temporary);
    syncFolderOf(path);
    return undefined;
  } catch (thrown) {
    // The name may not survive a power cut. A failed copy leaves no file.
    fs.unlinkSync(path);
    throw thrown;
  }
}

/** Whether `VACUUM INTO`, which reads the source only, failed because of it, not of the copy. */
function isOfSource(thrown: unknown): boolean {
  const failure = failureOf(thrown);
  // SQLITE_IOERR_READ, SHORT_READ and CORRUPTFS.
  if (failure === 'input-output') return [266, 522, 8458].includes(resultCodeOf(thrown) ?? 0);
  return failure !== 'disk-full' && failure !== 'cannot-open' && failure !== 'read-only';
}

function exists(path: string, advice: string): BackUpRefused {
  return { kind: 'exists', path, message: `${path} already exists; ${advice}` };
}

/** As root, gives a copy of root's file to the owner of its folder: the server must open it. */
function giveToFolderOwner(path: string): void {
  if (process.geteuid?.() !== 0 || fs.statSync(path).uid !== 0) return;
  const { uid, gid } = fs.statSync(dirname(path));
  if (uid !== 0) fs.chownSync(path, uid, gid);
}
