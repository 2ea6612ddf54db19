import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { schemaVersion, type UnusableFile } from './database-file.ts';
import { GuardFailure } from './owner-guard.ts';
import { sqliteFailureOf, type SqliteFailure } from './sqlite-failure.ts';

/** Why a database file could not be opened. */
export type OpenSqliteError = {
  /** What is wrong, in one word; `message` has the details. */
  readonly kind:
    | 'locked'
    | 'read-only'
    | 'input-output'
    | 'damaged'
    | 'disk-full'
    | 'cannot-open'
    | 'missing'
    | 'no-shared-memory'
    | 'not-a-database'
    | 'replaced'
    | 'log-of-another-file'
    | 'schema-newer'
    | 'not-a-plant-store'
    | 'table-altered'
    | 'unexpected';
  /** The file, as an absolute path. */
  readonly path: string;
  /** For the operator: what is wrong and what to do about it. */
  readonly message: string;
  /** What node:sqlite threw, if it did. */
  readonly cause?: unknown;
};

const readAndWrite = constants.R_OK | constants.W_OK;

type Description = Pick<OpenSqliteError, 'kind' | 'message'>;

const may = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

const statOf = (path: string): Stats | 'missing' | 'forbidden' => {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? 'missing';
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? 'forbidden' : 'missing';
  }
};

/** SQLite says "unable to open" or "disk I/O error" of many things; the file system knows which. */
const fileSystemFault = (path: string, access: number): Description | undefined => {
  const folder = dirname(path);
  const folderStat = statOf(folder);
  const fileStat = statOf(path);
  if (folderStat === 'forbidden' || fileStat === 'forbidden') {
    return { kind: 'cannot-open', message: `this user may not enter the folder ${folder}` };
  }
  if (folderStat === 'missing' || !folderStat.isDirectory()) {
    return { kind: 'cannot-open', message: `the folder ${folder} does not exist; make it first` };
  }
  if (fileStat !== 'missing' && fileStat.isDirectory()) {
    return { kind: 'cannot-open', message: `${path} is a folder, not a file; name a file in it` };
  }
  if (fileStat !== 'missing' && !may(path, access)) {
    return (access & constants.W_OK) === 0
      ? { kind: 'cannot-open', message: `this user may not read ${path}` }
      : { kind: 'read-only', message: `${path} cannot be written to` };
  }
  if (!may(folder, constants.W_OK)) {
    const message = `the folder ${folder} cannot be written to; SQLite makes files beside ${path}`;
    return { kind: 'read-only', message };
  }
  return undefined;
};

const describe = (path: string, failure: SqliteFailure, cause?: unknown): string => {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  switch (failure) {
    case 'locked':
      return `${path} is in use, by another process or by this one; only one may have it`;
    case 'read-only':
      return `${path} cannot be written to`;
    case 'cannot-open':
      return `${path} cannot be opened${reason}`;
    case 'input-output':
      return `${path} cannot be read or written: the disk reports an error`;
    case 'damaged':
      return `${path} is damaged; restore it from a backup`;
    case 'disk-full':
      return `the disk that holds ${path} is full`;
    case 'not-a-database':
      return `${path} is no SQLite database; name another file`;
    case 'no-shared-memory':
      return `${path} is in a folder in which programs cannot share memory, as in a network folder; move it to a local disk`;
    case 'unexpected':
      return `${path} cannot be used as a plant store${reason}`;
  }
};

const describedByFileSystem: readonly SqliteFailure[] = [
  'read-only',
  'cannot-open',
  'input-output',
];

const describeGuard = (path: string, { message }: GuardFailure): string =>
  `${message}: let this user write it, or remove it while no process has ${path} open`;

/** What an exception of node:sqlite means; `undefined` for one that is a fault of ours. */
export const openErrorOf = (
  path: string,
  cause: unknown,
  access: number = readAndWrite,
): OpenSqliteError | undefined => {
  const isOfGuard = cause instanceof GuardFailure;
  const failure = sqliteFailureOf(isOfGuard ? cause.cause : cause);
  if (failure === undefined) return undefined;
  const fault = describedByFileSystem.includes(failure) ? fileSystemFault(path, access) : undefined;
  if (!isOfGuard) {
    return { kind: failure, message: describe(path, failure, cause), ...fault, path, cause };
  }
  const kind = failure === 'not-a-database' ? 'cannot-open' : failure;
  return { kind, message: describeGuard(path, cause), ...fault, path, cause: cause.cause };
};

const describeForeign = (path: string, foreign: UnusableFile): string => {
  switch (foreign.kind) {
    case 'missing':
      return `${path} does not exist`;
    case 'cannot-open':
      return `${path} is a device or a pipe, not a file`;
    case 'damaged':
    case 'locked':
      return describe(path, foreign.kind);
    case 'schema-newer':
      return `${path} has schema version ${foreign.version}, made by a newer plant store; this one knows up to ${schemaVersion}: upgrade it`;
    case 'replaced':
      return `${path} was removed or replaced while it was in use; put it back, or stop and start anew`;
    case 'log-of-another-file':
      return `${foreign.log} does not belong to ${path}, as after a restore: move it away to open ${path} as it is`;
    case 'not-a-plant-store':
      return `${path} is the database of another application; name another file`;
    case 'table-altered':
      return `${path} has "${foreign.by}" on its table of plants, which changes what is stored; drop it`;
  }
};

export const unusableFileError = (path: string, foreign: UnusableFile): OpenSqliteError => {
  const fault = foreign.kind === 'cannot-open' ? fileSystemFault(path, readAndWrite) : undefined;
  return { kind: foreign.kind, message: describeForeign(path, foreign), ...fault, path };
};
