import { constants } from 'node:os';

/** Kinds of SQLite's primary result codes (sqlite.org/rescode.html). */
const kinds = [
  [5, 'locked'],
  [6, 'locked'],
  [8, 'read-only'],
  [10, 'input-output'],
  [11, 'damaged'],
  [13, 'disk-full'],
  [14, 'cannot-open'],
  [26, 'not-a-database'],
] as const;

/** Kind of a failure that SQLite or the file system reported. */
export type SqliteFailure = (typeof kinds)[number][1] | 'no-shared-memory' | 'unexpected';

const kindOf = new Map<number, SqliteFailure>(kinds);

/** `SQLITE_IOERR_SHMLOCK` and `SHMMAP`: extended result codes. `SHMOPEN` and `SHMSIZE` are failed writes. */
const sharedMemoryCodes: readonly unknown[] = [5130, 5386];

/** Kinds of the error codes of system calls on files that are opened without SQLite. */
const systemKinds = new Map<unknown, SqliteFailure>([
  ['EIO', 'input-output'],
  ['EACCES', 'read-only'],
  ['EPERM', 'read-only'],
  ['EROFS', 'read-only'],
  ['ENOSPC', 'disk-full'],
]);

/** `SQLITE_ERROR` of an expression, `TOOBIG`, and `CONSTRAINT`: the primary codes of a statement that fails for its values. */
const contentCodes = [1, 18, 19];

/** Whether SQLite refused an insert that it had prepared for the values of the plant. */
export const isContentRefused = (thrown: unknown): thrown is Error =>
  thrown instanceof Error &&
  'errcode' in thrown &&
  typeof thrown.errcode === 'number' &&
  contentCodes.includes(thrown.errcode & 0xff);

/** Returns the kind of an exception from SQLite or a system call; `undefined` for any other exception. */
export const sqliteFailureOf = (thrown: unknown): SqliteFailure | undefined => {
  if (!(thrown instanceof Error)) return undefined;
  // A quota is exceeded. For this error number, libuv has no code.
  if ('errno' in thrown && thrown.errno === -constants.errno.EDQUOT) return 'disk-full';
  if ('syscall' in thrown && 'code' in thrown) return systemKinds.get(thrown.code) ?? 'cannot-open';
  const errcode = 'errcode' in thrown ? thrown.errcode : undefined;
  if (sharedMemoryCodes.includes(errcode)) return 'no-shared-memory';
  // The low byte of an extended result code is the primary one.
  return typeof errcode === 'number' ? (kindOf.get(errcode & 0xff) ?? 'unexpected') : undefined;
};
