import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { codeOf, failureOf, openError, resultCodeOf } from '../open/errors.ts';
import type { OpenSqliteError } from '../open/errors.ts';
import { copyPermissions } from '../open/owner-lock.ts';
import { explain } from '../open/faults.ts';
import { absolutePath, attempt, syncFolderOf } from '../open/path.ts';
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
export function backUpPlants(options: BackUpOptions): ResultAsync<PlantsBackup, OpenSqliteError> {
  return new ResultAsync(Promise.resolve(copy(options, false)));
}

/**
 * Creates a database file as a copy of a backup, in the same way as {@link backUpPlants}. Never
 * replaces a database: close and move an existing one away first, with the files beside it. As
 * root, the file belongs to the owner of the backup, or of its folder if the backup is root's.
 *
 * @returns the number of plants and the size of the file, or the reason why the restore failed
 */
export function restorePlants(options: BackUpOptions): ResultAsync<PlantsBackup, OpenSqliteError> {
  return new ResultAsync(Promise.resolve(copy(options, true)));
}

/** Options of {@link backUpPlants} and {@link restorePlants}. */
export type BackUpOptions = {
  /** Path of the file to copy, absolute or relative to the working directory. It is not changed. */
  readonly from: string;
  /** Path of the copy. It may not exist, nor a `-wal`, `-shm` or `-journal` file beside it. */
  readonly to: string;
};

/** A complete copy, synced to the disk. */
export type PlantsBackup = {
  /** Number of plants in the copy. */
  readonly plants: number;
  /** Size of the copy, in bytes. */
  readonly size: number;
};

function copy(options: BackUpOptions, isRestored: boolean): Result<PlantsBackup, OpenSqliteError> {
  const to = absolutePath(options.to);
  const temporary = `${to}.${randomBytes(6).toString('hex')}.partial`;
  // SQLite would apply such files to the copy, or share them. A name that is too long fails.
  const names = ['', '-wal', '-shm', '-journal'].map((suffix) => to + suffix);
  names.push(`${temporary}-journal`);
  let source: Reader | undefined;
  try {
    const existing = names.find((name) => fs.lstatSync(name, { throwIfNoEntry: false }));
    if (existing !== undefined) return err(existsError(existing, to, isRestored));
    // A start must accept a file that is restored.
    const opened = Reader.open(options.from, isRestored ? 'own' : 'read');
    if (opened.isErr()) return err(opened.error);
    source = opened.value;
    return copyOf(source, { temporary, to }, isRestored);
  } catch (thrown) {
    return err(explain(to, thrown));
  } finally {
    source?.close();
  }
}

/** A backup names a file by mistake only, a restore also because the database is to be replaced. */
function existsError(existing: string, to: string, isRestored: boolean): OpenSqliteError {
  const quoted = `'${to.replaceAll("'", String.raw`'\''`)}'`;
  const move =
    ', or stop the server that has it open, and move it with the files beside it to a new ' +
    `folder: mkdir elsewhere && mv ${quoted}* elsewhere/`;
  return openError(existing, { kind: 'exists', detail: isRestored ? move : '' });
}

type Target = Record<'temporary' | 'to', string>;

/** Copies to a temporary file, and removes it unless it has become the copy. */
function copyOf(
  source: Reader,
  target: Target,
  isRestored: boolean,
): Result<PlantsBackup, OpenSqliteError> {
  const { temporary, to } = target;
  fs.closeSync(fs.openSync(temporary, 'wx', 0o600));
  try {
    // The copy of a read-only file can be written to.
    const isOfRoot = isRestored && fs.statSync(source.file).uid === 0;
    copyPermissions(source.file, temporary, 0o600, isOfRoot ? dirname(to) : source.file);
    return fill(source, target).andThen((backup) => giveName(target, isRestored).map(() => backup));
  } finally {
    attempt(() => fs.unlinkSync(temporary));
    attempt(() => fs.unlinkSync(`${temporary}-journal`));
  }
}

function fill(source: Reader, { temporary, to }: Target): Result<PlantsBackup, OpenSqliteError> {
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
    if (copied.findDamage().length > 0) return err(openError(source.path, { kind: 'damaged' }));
    const plants = Number(copied.read('SELECT count(*) FROM plants'));
    const { size } = fs.statSync(temporary);
    // In the source, so that an error names it.
    return countPlants(source).map(() => ({ plants, size }));
  } finally {
    copied.close();
  }
}

/** Gives the copy its name, unless a file has it: unlike rename(2), link(2) replaces no file. */
function giveName({ temporary, to }: Target, isRestored: boolean): Result<void, OpenSqliteError> {
  try {
    fs.linkSync(temporary, to);
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return err(existsError(to, to, isRestored));
    // EPERM: a file system without hard links.
    return err(openError(to, { kind: 'cannot-open', cause: thrown }));
  }
  fs.unlinkSync(temporary);
  // If this fails, the name may not survive a power cut.
  syncFolderOf(to);
  return ok();
}

/** Whether `VACUUM INTO`, which reads the source only, failed because of it, not of the copy. */
function isOfSource(thrown: unknown): boolean {
  const failure = failureOf(thrown);
  // SQLITE_IOERR_READ, SHORT_READ and CORRUPTFS.
  if (failure === 'input-output') return [266, 522, 8458].includes(resultCodeOf(thrown) ?? 0);
  return failure !== 'disk-full' && failure !== 'cannot-open' && failure !== 'read-only';
}
