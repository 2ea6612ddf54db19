/** SQLite's primary result codes that have a meaning to an operator (sqlite.org/rescode.html). */
const kinds = new Map<number, SqliteFailure>([
  [5, 'locked'],
  [6, 'locked'],
  [8, 'read-only'],
  [10, 'input-output'],
  [11, 'damaged'],
  [13, 'disk-full'],
  [14, 'cannot-open'],
  [26, 'not-a-database'],
]);

/** What went wrong in SQLite, in one word. */
export type SqliteFailure =
  | 'locked'
  | 'read-only'
  | 'input-output'
  | 'damaged'
  | 'disk-full'
  | 'cannot-open'
  | 'not-a-database'
  | 'no-shared-memory'
  | 'unexpected';

/** `SQLITE_IOERR_SHMOPEN`, `SHMSIZE`, `SHMLOCK` and `SHMMAP`: extended result codes. */
const sharedMemoryCodes: readonly unknown[] = [4618, 4874, 5130, 5386];

/** What the system says of a file beside the database, where SQLite was not yet asked. */
const systemKinds = new Map<unknown, SqliteFailure>([
  ['EIO', 'input-output'],
  ['EACCES', 'read-only'],
  ['EPERM', 'read-only'],
  ['EROFS', 'read-only'],
  ['ENOSPC', 'disk-full'],
]);

/** The failure that SQLite reported in what was thrown, or `undefined` where it reported none. */
export const sqliteFailureOf = (thrown: unknown): SqliteFailure | undefined => {
  if (!(thrown instanceof Error)) return undefined;
  if ('syscall' in thrown && 'code' in thrown) return systemKinds.get(thrown.code) ?? 'cannot-open';
  if (!('errcode' in thrown)) return undefined;
  const { errcode } = thrown;
  if (sharedMemoryCodes.includes(errcode)) return 'no-shared-memory';
  // The low byte of an extended result code is the primary one.
  return typeof errcode === 'number' ? (kinds.get(errcode & 0xff) ?? 'unexpected') : undefined;
};
