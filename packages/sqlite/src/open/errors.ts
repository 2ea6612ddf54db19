import { columnNames, declarationOf } from './columns.ts';

/** Reason why a database file cannot be used, or a copy cannot be made. */
export type OpenSqliteError = {
  /** Identifies the error; `message` has the details. */
  readonly kind: FaultKind;
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
  /** The exception from node:sqlite or a system call, if there was one. */
  readonly cause?: unknown;
};

/** What is wrong with a file: a kind, and the detail that its message contains. */
export type Fault = {
  readonly kind: FaultKind;
  readonly detail?: string;
  readonly cause?: unknown;
};

/** Returns the error for a fault of the file at a path. */
export function openError(path: string, { kind, detail, cause }: Fault): OpenSqliteError {
  const found = detail ?? (cause instanceof Error ? cause.message : 'of an unknown reason');
  const message = messages[kind](path, found);
  return { kind, path, message, ...(cause !== undefined && { cause }) };
}

/**
 * Returns the kind of an exception from SQLite or a system call; `undefined` for any other
 * exception, which is a bug.
 */
export function failureOf(thrown: unknown): FaultKind | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if ('syscall' in thrown && 'code' in thrown) return kindOf(String(thrown.code)) ?? 'cannot-open';
  const code = resultCodeOf(thrown);
  return code === undefined ? undefined : (kindOf(code) ?? kindOf(code & 0xff) ?? 'unexpected');
}

/** Returns the extended result code of an exception from SQLite; its low byte is the primary. */
export function resultCodeOf(thrown: unknown): number | undefined {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** Returns the code of a failed system call, such as `ENOENT`. */
export function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

/** Every kind of fault, with its message: what happened to the file, then what to do. */
const messages = {
  // The path.
  missing: (path) => `${path} does not exist; correct the path`,
  'cannot-open': (path, reason) =>
    `${path} cannot be opened: ${reason}; check its folder, its disk and the limits of this ` +
    'process (ulimit -a)',
  'not-a-file': (path) =>
    `${path} cannot be opened: it is a folder, a device or a pipe; name a file`,
  'read-only': (path, reason) =>
    `${path} cannot be opened or written to (${reason}); let this user write to it, to the files ` +
    'beside it and to their folder',
  'hard-links': (path) =>
    `${path} has several hard links, each with a -wal file of its own; keep only the one beside ` +
    'the -wal file that is not empty (find / -samefile lists them)',
  'mount-point': (path) =>
    `${path} is mounted alone, and SQLite keeps the latest plants in files beside it; mount its ` +
    'folder',
  replaced: (path, name) =>
    `${path} was removed, renamed or replaced while it was in use, and its newest plants are in ` +
    `it or in ${name}-wal; keep both, stop the server, and put the file back beside its -wal ` +
    'file before you start it again, or restore a backup to another path',
  overwritten: (path, name) =>
    `${path} was overwritten while it was in use, and its newest plants are in ${name}-wal; ` +
    'stop the server, and move both files to another folder before you restore a backup',
  'overwritten-while-read': (path) => `${path} was overwritten while it was read; run it again`,
  'wal-shortened': (path) =>
    `${path}-wal was overwritten or shortened while it was in use, and has lost plants; stop ` +
    `the server, copy the files of ${path} to two other folders, check one copy with the -wal ` +
    'file and the other without it, and keep the one that has more plants',
  'companion-gone': (_path, name) =>
    `${name} was removed or replaced while it was in use, and a stop could lose plants; do not ` +
    'stop the server until creates succeed: close other programs that have the database open, ' +
    'free some space, and check the disk',
  exists: (path, advice) => `${path} already exists; name another file${advice}`,
  // The disk and its file system.
  'disk-full': (path) =>
    `the disk that contains ${path} is full, has no inode left (df -i), or a quota is exceeded; ` +
    'free some space',
  'input-output': (path) =>
    `${path} cannot be read or written: the disk reports an error or is full, or a quota or the ` +
    'limit of a size (ulimit -f) is exceeded; check each',
  'unsuitable-disk': (path, reason) =>
    `${path} is in a folder where files cannot be locked, shared or synced (${reason}), such as ` +
    'a network file system; move it to a local disk',
  // The content.
  locked: (path) =>
    `${path} is in use, by another process or by this one; only one repository can have it open: ` +
    'stop the server first, or close the other repository',
  'not-a-database': (path) => `${path} is not a SQLite database; name another file`,
  damaged: (path) =>
    `${path} is damaged, or its disk cannot read it; check the disk, and check a copy of the ` +
    'file before you restore a backup',
  'journal-left': (path) =>
    `${path} has a rollback journal of a program that was killed, and a read cannot roll it ` +
    'back; start the server once, or open a copy of both files with sqlite3',
  'wal-of-another-file': (path) =>
    `${path}-wal has plants, but ${path} is missing, empty or a backup, and opening both would ` +
    'lose plants; put the file back that was beside it, or move both to another folder, keep ' +
    'them, and restore a backup',
  empty: (path) => `${path} is empty and has no table of plants; name another file`,
  'not-a-plant-store': (path) =>
    `${path} is the database of another application; name another file`,
  'schema-newer': (path, version) =>
    `${path} has schema version ${version} of a newer version of Plantstore; upgrade this one`,
  'not-a-plant': (path, row) =>
    `${path} has a row that is no plant, with the id ${row}; correct or delete it with sqlite3, ` +
    `in a table with the columns ${columnNames.map(declarationOf).join(', ')}`,
  'table-altered': (path, advice) =>
    `another program altered or removed the table plants of ${path}; ${advice}`,
  unexpected: (path, reason) => `${path} cannot be used as a plant store: ${reason}`,
} satisfies Readonly<Record<string, (path: string, detail: string) => string>>;

type FaultKind = keyof typeof messages;

function kindOf(code: string | number): FaultKind | undefined {
  return codes.find(([, found]) => found.includes(code))?.[0];
}

/**
 * The kinds of result codes of SQLite (sqlite.org/rescode.html), primary and extended, and of error
 * codes of failed system calls.
 */
const codes: readonly (readonly [FaultKind, readonly (string | number)[]])[] = [
  ['cannot-open', [3, 14]],
  ['locked', [5, 6]],
  ['read-only', [8, 'EACCES', 'EPERM', 'EROFS']],
  ['input-output', [10, 'EIO', 'EFBIG']],
  ['damaged', [11]],
  ['disk-full', [13, 'ENOSPC']],
  ['not-a-database', [26]],
  // SQLITE_READONLY_ROLLBACK: a read-only connection found the journal of a killed program.
  ['journal-left', [776]],
  // SQLITE_IOERR_UNLOCK, RDLOCK, CHECKRESERVEDLOCK, LOCK, SHMLOCK, SHMMAP; fsync of a folder.
  ['unsuitable-disk', [2058, 2314, 3594, 3850, 5130, 5386, 'EINVAL', 'ENOTSUP', 'ENOSYS']],
];
