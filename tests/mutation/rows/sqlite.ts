import { rowsIn } from './rows-in.ts';

const of = rowsIn('packages/sqlite/src');

export const sqlite = [
  ...of(
    'backup-worker.ts',
    'back-up-plants',
    [
      'a backup replaces no file',
      'linkSync(temporary, path);',
      'rmSync(path, { force: true }); linkSync(temporary, path);',
    ],
    ['a -shm file beside the copy is refused', "'-shm', ", ''],
    ['a -wal file beside the copy is refused', "'-wal', ", ''],
    ['a -journal file beside the copy is refused', ", '-journal'", ''],
    [
      'the owner of the copy can write to it',
      'copyPermissions(order.from, temporary, 0o600);',
      'copyPermissions(order.from, temporary);',
    ],
  ),
  ...of(
    'backup-worker.ts',
    'copies-killed',
    [
      'each copy has a temporary file of its own',
      "`${to}.${randomBytes(6).toString('hex')}.partial`",
      '`${to}.partial`',
    ],
    [
      'the copy survives a power cut',
      "source.prepare('VACUUM INTO ?')",
      "source.exec('PRAGMA synchronous = OFF'); source.prepare('VACUUM INTO ?')",
    ],
    [
      'the copy is written under another name',
      "const temporary = `${to}.${randomBytes(6).toString('hex')}.partial`;",
      'const temporary = to; void randomBytes;',
    ],
    ['a copy that is being written is private', "'wx', 0o600", "'wx', 0o666"],
  ),
  ...of(
    'batch.ts',
    'batch',
    [
      'an absent tag stays absent',
      'lengths[2 * index + 1] = tag?.length ?? -1;',
      'lengths[2 * index + 1] = tag?.length ?? 0;',
    ],
    ['each plant keeps its own tag', 'const tagStart = tagEnd;', 'const tagStart = 0;'],
  ),
  ...of('checkpointer.ts', 'other-programs', [
    'a WAL that a reader held shrinks afterwards',
    'PRAGMA journal_size_limit = ${walLimit}',
    'PRAGMA journal_size_limit = -1',
  ]),
  ...of('commit-worker.ts', 'failed-calls', [
    'an I/O error makes the next thread write the file again',
    "mustRewrite: failure === 'input-output' };",
    'mustRewrite: false };',
  ]),
  ...of('commit-worker.ts', 'recovery', [
    'a renamed file contains every plant after the close',
    'PRAGMA wal_checkpoint(TRUNCATE)',
    'PRAGMA wal_checkpoint(PASSIVE)',
  ]),
  ...of(
    'database-file.ts',
    'altered-table',
    ['a unique index is refused', 'WHERE "unique"', 'WHERE "unique" AND 0'],
    ['a trigger is refused', "WHERE type = 'trigger'", "WHERE type = 'none'"],
    ['the case of its table does not hide a trigger', ' COLLATE NOCASE', ''],
  ),
  ...of('database-file.ts', 'bad-files', [
    'a file has one owner',
    'findOtherPath(file) ?? acquireOwnerLock(file);',
    'findOtherPath(file) ?? acquireOwnerLock(`${file}-${Math.random()}`);',
  ]),
  ...of('database-file.ts', 'failed-syncs', [
    'a plant that was written before a failed sync is written again',
    '    rewriteWal(path);\n    rewriteTail(database, path);\n    syncWal(path);',
    '    syncWal(path);',
  ]),
  ...of(
    'database-file.ts',
    'other-programs',
    [
      'a create waits for a short transaction of another program',
      'const busyTimeoutMs = 2_000;',
      'const busyTimeoutMs = 0;',
    ],
    [
      'no frame of another program is overwritten in a WAL file',
      "The caller syncs it.\n  database.exec('BEGIN IMMEDIATE');",
      "The caller syncs it.\n  database.exec('BEGIN');",
    ],
  ),
  ...of('database-file.ts', 'power-cut', [
    'a plant that is acknowledged survives a power cut',
    'PRAGMA synchronous = FULL',
    'PRAGMA synchronous = NORMAL',
  ]),
  ...of('exclusive-lock.ts', 'exclusive-lock', [
    'no other program writes while the file is written again',
    'PRAGMA locking_mode = EXCLUSIVE',
    'PRAGMA locking_mode = NORMAL',
  ]),
  ...of(
    'foreign-wal.ts',
    'foreign-wal',
    [
      'a truncated last page is refused',
      'Math.floor(size / wal.pageSize)',
      'Math.ceil(size / wal.pageSize)',
    ],
    ['a file that another program writes is not refused', ' && stateOf(path) === before', ''],
  ),
  ...of('open-sqlite-repository.ts', 'check', [
    'a close waits for the checks',
    '.then(async () => runExclusively(close))',
    '.then(close)',
  ]),
  ...of('open-sqlite-repository.ts', 'open-sqlite-repository', [
    'plants of one id are created in call order',
    'const committed = await runExclusively(async () => commit(plants));',
    'const committed = await commit(plants.toReversed());',
  ]),
  ...of('owned-database.ts', 'exclusive-lock', [
    'no descriptor is closed while the file is locked',
    'this.#openFiles.push(opened);',
    'opened.close();',
  ]),
  ...of(
    'owner-lock.ts',
    'owner-lock',
    [
      'a database may become writable later',
      'if (isNew) copyPermissions(file, lockPath, 0o600);',
      'if (isNew) copyPermissions(file, lockPath);',
    ],
    ['a lock file without write access has no owner', '; PRAGMA user_version = 1', ''],
  ),
  ...of(
    'plants-table.ts',
    'open-sqlite-repository',
    [
      'nothing is ever overwritten',
      'ON CONFLICT DO NOTHING',
      'ON CONFLICT DO UPDATE SET name = excluded.name',
    ],
    ['the names are compared', 'SELECT name = ? AND', 'SELECT ? IS NOT NULL AND'],
    [
      'an absent tag is not an empty one',
      'AND tag IS ?',
      'AND ifnull(tag, char()) IS ifnull(?, char())',
    ],
  ),
  ...of('read-plants.ts', 'read-plants', [
    'reading prevents no checkpoint',
    'LIMIT ${batch.maxPlants}',
    '',
  ]),
  ...of('rewriter.ts', 'ext4', [
    'data is written around the page cache after a failed sync',
    'if (constants.O_DIRECT === undefined) return undefined;',
    'return undefined;',
  ]),
  ...of('rewriter.ts', 'rewriter', [
    'a file is written again from an offset within a block',
    'let position = from - (from % block);',
    'let position = from;',
  ]),
];
