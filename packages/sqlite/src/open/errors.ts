import { statfsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { columnNames, declarationOf } from './columns.ts';

/** Reason why a database file cannot be used. */
export type OpenSqliteError = {
  /** Identifies the error; `message` has the details. */
  readonly kind: keyof typeof messages;
  /** The file, as an absolute path. */
  readonly path: string;
  /** Message for the operator: what happened, then what to do. */
  readonly message: string;
  /** The exception from node:sqlite or a system call, if there was one. */
  readonly cause?: unknown;
};

/** A kind of error with what its message requires. A `message` of its own replaces that of the table. */
export type Fault = { [K in keyof Messages]: FaultOf<K> }[keyof Messages];

/** Returns the error for a fault of the file at a path. */
export function openError(path: string, fault: Fault): OpenSqliteError {
  const messageOf = messages[fault.kind] as (path: string, fault: Fault) => string;
  const { kind, message = messageOf(path, fault), cause } = fault;
  return { kind, path, message, ...(cause !== undefined && { cause }) };
}

/** Returns the kind of an exception from SQLite or a system call; `undefined` for any other exception, which is a bug. */
export function failureOf(thrown: unknown): SqliteFailure | undefined {
  if (!(thrown instanceof Error)) return undefined;
  // A quota is exceeded. For this error number, libuv has no code.
  if ('errno' in thrown && thrown.errno === -constants.errno.EDQUOT) return 'disk-full';
  if ('syscall' in thrown && 'code' in thrown) {
    const code = String(thrown.code);
    return kindOf(`${String(thrown.syscall)} ${code}`) ?? kindOf(code) ?? 'cannot-open';
  }
  const code = resultCodeOf(thrown);
  return code === undefined ? undefined : (kindOf(code) ?? kindOf(code & 0xff) ?? 'unexpected');
}

/** Returns the extended result code of an exception from SQLite. Its low byte is the primary code. */
export function resultCodeOf(thrown: unknown): number | undefined {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** Returns the code of a failed system call, such as `ENOENT`. */
export function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

type Messages = typeof messages;

type FaultOf<K extends keyof Messages> = Caused & {
  readonly kind: K;
  readonly message?: string;
} & (Messages[K] extends (path: string) => string ? unknown : Parameters<Messages[K]>[1]);

type Caused = { readonly cause?: unknown };

const reasonOf = (cause: unknown): string => (cause instanceof Error ? `: ${cause.message}` : '');

/** Every kind of error, with its message. */
const messages = {
  // The path.
  missing: (path: string) => `${path} does not exist; correct the path`,
  'cannot-open': (path: string, { cause }: Caused) => `${path} cannot be opened${reasonOf(cause)}`,
  'read-only': (path: string, { cause }: Caused) =>
    // SQLITE_READONLY_ROLLBACK.
    resultCodeOf(cause) === 776
      ? `${path} has a rollback journal of a program that was killed, and a read cannot roll it back; start the server once, or open a copy of both files with sqlite3`
      : `${path} cannot be written to; grant this user write access`,
  'hard-links': (path: string, { hasWal }: { readonly hasWal: boolean }) =>
    hasWal
      ? `${path} has several hard links; keep this one, because the newest plants are in ${path}-wal, and remove the others (find / -samefile lists them)`
      : `${path} has several hard links, and the newest plants may be in a -wal file beside another one; keep the one whose -wal file is not empty, else ${path}, and remove the others (find / -samefile lists them)`,
  'mount-point': (path: string) =>
    `${path} is mounted alone, and SQLite keeps the latest plants in files beside it; mount its folder`,
  replaced: (path: string, place: Place) => placeMessages[place.state](path, place),
  // The disk and its file system.
  'disk-full': (path: string) =>
    `the disk that contains ${path} is full, or a quota is exceeded; free some space`,
  'input-output': (path: string) =>
    `${path} cannot be read or written: the disk reports an error or is full, or a quota is exceeded; check each`,
  'no-shared-memory': (path: string) => unsuitable(path, 'processes cannot share memory'),
  'no-locks': (path: string) => unsuitable(path, 'files cannot be locked'),
  'no-sync': (path: string) => unsuitable(path, 'a folder cannot be synced'),
  // The content.
  locked: (path: string) =>
    `${path} is in use, by another process or by this one; only one repository can have it open: stop the server first, or close the other repository`,
  'not-a-database': (path: string) => `${path} is not a SQLite database; name another file`,
  damaged: (path: string) =>
    `${path} is damaged, or its disk cannot read it; check the disk, and check a copy of the file before you restore a backup`,
  'wal-of-another-file': (path: string, { wal }: { readonly wal: string }) =>
    `${wal} has plants, but ${path} is missing, empty, incomplete or a copy from another time, and opening both would lose plants; put the file back that was beside it, or move both to another folder, keep them, and restore a backup`,
  empty: (path: string) => `${path} is empty and has no table of plants; name another file`,
  'not-a-plant-store': (path: string) =>
    `${path} is the database of another application; name another file`,
  'schema-newer': (path: string, { version, supported }: Record<'version' | 'supported', number>) =>
    `${path} has schema version ${version}, made by a newer version of Plantstore; this version supports schema versions up to ${supported}: upgrade it`,
  'not-a-plant': (path: string, { id, fault }: { readonly id: string; readonly fault: string }) =>
    `${path} has a row that is no plant, with the id ${id}: ${fault}; correct or delete it with sqlite3, in a table with the columns ${columnNames.map(declarationOf).join(', ')}`,
  'table-altered': (path: string, { by, isUnreadable }: Alteration) => {
    if (isUnreadable === true)
      return `another program altered or removed the table plants of ${path}, which does not have the columns of a plant; copy the plants with sqlite3, or restore a backup`;
    return by === undefined
      ? `another program altered the table plants of ${path}, or removed it; export the plants, and import them into a new file`
      : `${path} has the trigger or unique index "${by}" on its table plants, which can change what is stored; drop it`;
  },
  // The process.
  'no-thread': (path: string, { cause }: Caused) =>
    codeOf(cause) === 'ERR_ACCESS_DENIED'
      ? `${path} cannot be opened, because no thread can be started: Node runs with --permission; add --allow-worker`
      : codeOf(cause) === 'ENOENT'
        ? `${path} cannot be opened, because the working directory was removed; start in another one`
        : `${path} cannot be opened, because no thread can be started${reasonOf(cause)}; raise the limit of processes and threads (pids.max, ulimit -u), or remove what forbids them`,
  unexpected: (path: string, { cause }: Caused) =>
    `${path} cannot be used as a plant store${reasonOf(cause)}`,
};

/** `by` is a trigger or an index that can change what is stored. A table without the columns of a plant is unreadable. */
type Alteration = { readonly by?: string; readonly isUnreadable?: true };

/** Where a file is that does not have its path any more. */
export type Place = {
  /** `relinked`: the path leads elsewhere. `renamed`, `removed`: no other file has its name. */
  readonly state: 'relinked' | 'renamed' | 'replaced' | 'removed';
  /** Name of the file when it was opened, with symbolic links resolved. */
  readonly name: string;
  /** Its new name, if it has one and the platform shows it. */
  readonly to?: string | undefined;
};

const placeMessages: Readonly<Record<Place['state'], (path: string, place: Place) => string>> = {
  relinked: (path, { name }) =>
    `${path} leads to another file than when it was opened; the plants are in ${name}: make ${path} lead to it again`,
  renamed: (path, { to }) =>
    to === undefined
      ? `${path} was renamed, or another file system is mounted over its folder, while it was in use; move it back, with the files beside it that were moved, too, or unmount that file system`
      : `${path} was renamed to ${to} while it was in use; move it back, with the files beside it that were moved, too`,
  replaced: (path, { name, to }) =>
    to === undefined
      ? `another file took the place of ${path} while it was in use, and the newest plants are in ${name}-wal; stop the server, and copy both files to another folder before you start it again`
      : `another file took the place of ${path} while it was in use; the plants are in ${to}, and the newest ones in the -wal file that was beside it: stop the server, move the other file away, and move ${to} back`,
  removed: (path, { name }) =>
    `${path} was removed while it was in use, and the newest plants are in ${name}-wal; keep that file, and put the removed file back, or restore a backup to another path`,
};

/** Types of statfs(2) that other machines or programs serve. */
const fileSystems: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'SMB',
  0xfe534d42: 'SMB',
  0x01021997: '9p',
  0x65735546: 'FUSE',
  0x786f4256: 'a shared folder of VirtualBox',
};

function unsuitable(path: string, what: string): string {
  let name: string | undefined;
  try {
    name = fileSystems[statfsSync(dirname(path)).type >>> 0];
  } catch {
    // The message then names an example.
  }
  const where = name === undefined ? 'such as a network file system' : `which is on ${name}`;
  return `${path} is in a folder where ${what}, ${where}; move it to a local disk`;
}

/** Kind of a failure that SQLite or the file system reported. */
export type SqliteFailure = (typeof kinds)[keyof typeof kinds] | 'unexpected';

/** Kinds of SQLite's result codes (sqlite.org/rescode.html), the primary ones and two extended ones, and of failed system calls. */
const kinds = {
  3: 'cannot-open',
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  10: 'input-output',
  11: 'damaged',
  13: 'disk-full',
  14: 'cannot-open',
  26: 'not-a-database',
  5130: 'no-shared-memory',
  5386: 'no-shared-memory',
  EIO: 'input-output',
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'disk-full',
  // Only a folder is refused so.
  'fsync EINVAL': 'no-sync',
  'fsync ENOTSUP': 'no-sync',
  'fsync EOPNOTSUPP': 'no-sync',
  'fsync ENOSYS': 'no-sync',
} as const;

const kindOf = (key: string | number) => (kinds as Record<string | number, SqliteFailure>)[key];
