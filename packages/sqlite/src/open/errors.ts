import { constants } from 'node:os';
import { columnNames, declarationOf } from './columns.ts';

/** Reason why a database file cannot be used. */
export type OpenSqliteError = {
  /** Identifies the error; `message` has the details. */
  readonly kind: Kind;
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
  /** The exception from node:sqlite or a system call, if there was one. */
  readonly cause?: unknown;
};

/** What is wrong with a file: a row of the table of messages, and what the message contains. */
export type Fault = {
  readonly fault: FaultName;
  readonly found?: string;
  readonly cause?: unknown;
};

/** Returns the error for a fault of the file at a path. */
export function openError(path: string, { fault, found, cause }: Fault): OpenSqliteError {
  const row: Row = faults[fault];
  const seen = found ?? (cause instanceof Error ? cause.message : 'of an unknown reason');
  const message = row.text.replaceAll(/\{(path|found)\}/g, (name) =>
    name === '{path}' ? path : seen,
  );
  const kind = (row.kind ?? fault) as Kind;
  return { kind, path, message, ...(cause !== undefined && { cause }) };
}

/**
 * Returns the fault of an exception from SQLite or a system call; `undefined` for any other
 * exception, which is a bug.
 */
export function failureOf(thrown: unknown): FaultName | undefined {
  if (!(thrown instanceof Error)) return undefined;
  // A quota is exceeded. For this error number, libuv has no code.
  if ('errno' in thrown && thrown.errno === -constants.errno.EDQUOT) return 'disk-full';
  if ('syscall' in thrown && 'code' in thrown) return faultOf(String(thrown.code)) ?? 'cannot-open';
  const code = resultCodeOf(thrown);
  return code === undefined ? undefined : (faultOf(code) ?? faultOf(code & 0xff) ?? 'unexpected');
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

/** A row: an exception with one of the codes has this fault. */
type Row = {
  /** Default: its name. */
  readonly kind?: string;
  /**
   * Result codes of SQLite (sqlite.org/rescode.html), primary and extended, and error codes of
   * failed system calls.
   */
  readonly codes?: readonly (string | number)[];
  readonly text: string;
};

/** Every message: what happened to the file at `{path}`, what was `{found}`, and what to do. */
const faults = {
  // The path.
  missing: { text: '{path} does not exist; correct the path' },
  'cannot-open': {
    codes: [3, 14],
    text:
      '{path} cannot be opened: {found}; check its folder, its disk and the limits of this ' +
      'process (ulimit -a)',
  },
  'name-too-long': {
    kind: 'cannot-open',
    codes: ['ENAMETOOLONG'],
    text: '{path} cannot be used: {found}; choose a shorter name',
  },
  'path-invalid': { kind: 'cannot-open', text: '{path} cannot be opened: {found}' },
  'read-only': {
    codes: [8, 'EACCES', 'EPERM', 'EROFS'],
    text:
      '{path} cannot be written to ({found}); let this user write to it and to its folder, where ' +
      'SQLite creates files beside it; or copy it elsewhere',
  },
  'hard-links': {
    text:
      '{path} has several hard links, each with a -wal file of its own; keep only the one beside ' +
      'the -wal file that is not empty (find / -samefile lists them)',
  },
  'mount-point': {
    text:
      '{path} is mounted alone, and SQLite keeps the latest plants in files beside it; mount its ' +
      'folder',
  },
  replaced: {
    text:
      '{path} was removed, renamed or replaced while it was in use, and its newest plants are in ' +
      'it or in {found}-wal; keep both, stop the server, and put the file back beside its -wal ' +
      'file before you start it again, or restore a backup to another path',
  },
  overwritten: {
    text:
      '{path} was overwritten while it was in use, and its newest plants are in {found}-wal; ' +
      'stop the server, and move both files to another folder before you restore a backup',
  },
  'overwritten-while-read': {
    kind: 'overwritten',
    text: '{path} was overwritten while it was read; run it again',
  },
  'wal-shortened': {
    kind: 'overwritten',
    text:
      '{path}-wal was overwritten or shortened while it was in use, and has lost plants; stop ' +
      'the server, copy the files of {path} to two other folders, check one copy with the -wal ' +
      'file and the other without it, and keep the one that has more plants',
  },
  // The disk and its file system.
  'disk-full': {
    codes: [13, 'ENOSPC'],
    text:
      'the disk that contains {path} is full, has no inode left (df -i), or a quota is exceeded; ' +
      'free some space',
  },
  'input-output': {
    codes: [10, 'EIO', 'EFBIG'],
    text:
      '{path} cannot be read or written: the disk reports an error or is full, or a quota or the ' +
      'limit of a size (ulimit -f) is exceeded; check each',
  },
  'unsuitable-disk': {
    // SQLITE_IOERR_UNLOCK, RDLOCK, CHECKRESERVEDLOCK, LOCK, SHMLOCK, SHMMAP; fsync of a folder.
    codes: [2058, 2314, 3594, 3850, 5130, 5386, 'EINVAL', 'ENOTSUP', 'ENOSYS'],
    text:
      '{path} is in a folder where files cannot be locked, shared or synced ({found}), such as a ' +
      'network file system; move it to a local disk',
  },
  // The content.
  locked: {
    codes: [5, 6],
    text:
      '{path} is in use, by another process or by this one; only one repository can have it ' +
      'open: stop the server first, or close the other repository (on a network file system, ' +
      'which may lack locks: move it to a local disk)',
  },
  'not-a-database': { codes: [26], text: '{path} is not a SQLite database; name another file' },
  damaged: {
    codes: [11],
    text:
      '{path} is damaged, or its disk cannot read it; check the disk, and check a copy of the ' +
      'file before you restore a backup',
  },
  'journal-left': {
    // SQLITE_READONLY_ROLLBACK: a read-only connection found the journal of a killed program.
    codes: [776],
    text:
      '{path} has a rollback journal of a program that was killed, and a read cannot roll it ' +
      'back; start the server once, or open a copy of both files with sqlite3',
  },
  'wal-of-another-file': {
    text:
      '{path}-wal has plants, but {path} is missing, empty or a backup, and opening both would ' +
      'lose plants; put the file back that was beside it, or move both to another folder, keep ' +
      'them, and restore a backup',
  },
  empty: { text: '{path} is empty and has no table of plants; name another file' },
  'not-a-plant-store': {
    text: '{path} is the database of another application; name another file',
  },
  'schema-newer': {
    text: '{path} has schema version {found} of a newer version of Plantstore; upgrade this one',
  },
  'not-a-plant': {
    text:
      '{path} has a row that is no plant, with the id {found}; correct or delete it with ' +
      `sqlite3, in a table with the columns ${columnNames.map(declarationOf).join(', ')}`,
  },
  'table-altered': {
    text: 'another program altered or removed the table plants of {path}; {found}',
  },
  unexpected: { text: '{path} cannot be used as a plant store: {found}' },
} as const satisfies Readonly<Record<string, Row>>;

/** Warnings for the operator. */
export const warnings = {
  tmpfs:
    '{path} is in memory (tmpfs), and each plant is lost when the machine or the container ends; ' +
    'move it to a disk',
} as const;

export type FaultName = keyof typeof faults;
type Kind = Exclude<FaultName, Other>;
type Other = 'name-too-long' | 'path-invalid' | 'overwritten-while-read' | 'wal-shortened';

const names = Object.keys(faults) as FaultName[];

function faultOf(code: string | number): FaultName | undefined {
  return names.find((name) => {
    const { codes = [] }: Row = faults[name];
    return codes.includes(code);
  });
}
