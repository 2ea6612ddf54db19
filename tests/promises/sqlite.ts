import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/sqlite/src');

/** A statement that syncs nothing of this connection. */
const unsynced = "source.exec('PRAGMA synchronous = OFF');";

export const sqlite = [
  // What a 200 promises.
  ...of('database-file.ts', 'power-cut', [
    'a plant that is acknowledged survives a power cut',
    'PRAGMA synchronous = FULL',
    'PRAGMA synchronous = NORMAL',
  ]),
  ...of('wal-file.ts', 'failed-syncs', [
    'the name of a new file survives a power cut',
    '  syncFolderOf(path);\n',
    '',
  ]),
  ...of(
    'database-file.ts',
    'failed-syncs',
    [
      'the file of a new store survives a power cut',
      '  syncWal(path);\n  database.exec(`PRAGMA busy',
      '  database.exec(`PRAGMA busy',
    ],
    [
      'a plant that was written before a failed sync is written again',
      '    rewriteWal(path);\n    rewriteTail(database, path);\n    syncWal(path);',
      '    syncWal(path);',
    ],
  ),
  ...of('commit-worker.ts', 'failed-syncs', [
    'a failed checkpoint is reported, and the file opened again',
    'rewriteOrKeepWal(opened);\n    return failure;',
    'rewriteOrKeepWal(opened);\n    return undefined;',
  ]),
  ...of('rewriter.ts', 'ext4', [
    'data is written around the page cache after a failed sync',
    'if (constants.O_DIRECT === undefined) return undefined;',
    'return undefined;',
  ]),
  ...of('exclusive-lock.ts', 'exclusive-lock', [
    'no other program writes while the file is written again',
    'PRAGMA locking_mode = EXCLUSIVE',
    'PRAGMA locking_mode = NORMAL',
  ]),
  ...of('owned-database.ts', 'exclusive-lock', [
    'no descriptor is closed while the file is locked',
    'this.#openFiles.push(opened);',
    'opened.close();',
  ]),
  ...of(
    'plants-table.ts',
    'open-sqlite-repository',
    [
      'a different plant under a taken id is refused',
      'if (rejection !== undefined) rejected.set(index, rejection);',
      'void rejection, rejected, index;',
    ],
    [
      'nothing is ever overwritten',
      'ON CONFLICT DO NOTHING',
      'ON CONFLICT DO UPDATE SET name = excluded.name',
    ],

    ['an absent tag is not an empty one', 'AND tag IS ?', "AND ifnull(tag, '') IS ifnull(?, '')"],
  ),
  ...of(
    'plants-table.ts',
    'other-programs',
    [
      'a table that another program alters is detected before a commit',
      'if (findAlteration(database) !== undefined) return true;',
      '',
    ],
    [
      'the table is checked at each change of the schema',
      'if (cookie === database.schemaCookie) return false;',
      'return false;',
    ],
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
  ...of(
    'commit-worker.ts',
    'recovery',

    [
      'a plant in a removed WAL file is not acknowledged',
      'return gone && `${gone.name} was removed or replaced while it was in use`;',
      'void gone;\n    return undefined;',
    ],

    [
      'a renamed file contains every plant after the close',
      'PRAGMA wal_checkpoint(TRUNCATE)',
      'PRAGMA wal_checkpoint(PASSIVE)',
    ],
  ),
  ...of(
    'checkpointer.ts',
    'other-programs',
    ['the WAL stays small', '= checkpoint.get() ?? {};', '= {} as Record<string, unknown>;'],
    [
      'a WAL that a reader holds is reported',
      'if (!isHeld || size < reportAt) return undefined;',
      'return undefined;',
    ],
    [
      'each long read transaction is reported',
      '[dueAt, reportAt] = [walLimit, firstReportSize]',
      'dueAt = walLimit',
    ],
    [
      'a WAL that a reader held shrinks afterwards',
      'PRAGMA journal_size_limit = ${walLimit}',
      'PRAGMA journal_size_limit = -1',
    ],
  ),
  ...of(
    'commit-thread.ts',
    'recovery',
    [
      'the worker has released the file before it is opened again',
      '        await exited;\n      }\n      worker.unref();',
      '      }\n      worker.unref();',
    ],
    ['a crash of the worker settles the creates', '      onReply(undefined);\n', ''],
  ),
  ...of(
    'open-sqlite-repository.ts',
    'open-sqlite-repository',
    ['each plant has its own result', 'committed.value.get(index)', 'committed.value.get(0)'],
    [
      'plants of one id are created in call order',
      'const committed = await runExclusively(async () => commit(plants));',
      'const committed = await commit(plants.toReversed());',
    ],
  ),
  // Which files are opened.
  ...of(
    'database-file.ts',
    'bad-files',
    ['a file with several hard links is refused', 'found.nlink > 1', 'found.nlink > 9'],
    [
      'a database of another application is refused',
      'application !== applicationId && !isNew',
      'false',
    ],
    [
      'a file of a newer version is refused',
      "if (version > schemaVersion) return { kind: 'schema-newer', version };",
      '',
    ],
    [
      'a truncated file is refused',
      "if (!hadWal && isTruncated(database, path)) return { kind: 'damaged' };",
      '',
    ],
  ),
  ...of(
    'database-file.ts',
    'altered-table',
    ['a unique index is refused', 'WHERE "unique"', 'WHERE "unique" AND 0'],
    ["a plain index is the operator's", 'WHERE "unique"', ''],
    ['a trigger is refused', "WHERE type = 'trigger'", "WHERE type = 'none'"],
    ['the case of its table does not hide a trigger', ' COLLATE NOCASE', ''],
  ),
  ...of(
    'owner-lock.ts',
    'owner-lock',
    [
      'root gives the lock file to the owner of the database',
      'if (process.geteuid() === 0) chownSync(path, found.uid, found.gid);',
      '',
    ],
    [
      'a database may become writable later',
      'if (isNew) copyPermissions(file, lockPath, 0o600);',
      'if (isNew) copyPermissions(file, lockPath);',
    ],
    ['the lock file has no journal', 'PRAGMA journal_mode = MEMORY; ', ''],
  ),
  ...of('owner-lock.ts', 'owner-lock', [
    'the lock file has the permissions of the database',
    'chmodSync(path, (found.mode & 0o777) | extraMode);',
    'chmodSync(path, 0o600);',
  ]),
  ...of(
    'foreign-wal.ts',
    'foreign-wal',
    [
      'a WAL of another file is refused',
      'return isForeignNow(path) && stateOf(path) === before;',
      'return false;',
    ],

    ['a WAL beside an empty file is refused', 'if (size === 0) return true;', ''],
    [
      'a WAL beside a smaller backup is refused',
      'if (!wal.hasFrom(Math.floor(size / wal.pageSize) + 1)) return true;',
      '',
    ],
  ),
  // Copies.
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
      'the copy has the permissions and the owner of the source',
      'copyPermissions(order.from, temporary, 0o600);',
      '',
    ],
    [
      'the owner of the copy can write to it',
      'copyPermissions(order.from, temporary, 0o600);',
      'copyPermissions(order.from, temporary);',
    ],
    ['the temporary file is removed', '    removeLeft(temporary);\n', ''],
    ['the size of the copy is reported', 'copy: { plants, size } }', 'copy: { plants, size: 0 } }'],
    [
      'a restore advises to move the database away',
      "command === 'backup'\n      ? 'name",
      "command !== 'backup'\n      ? 'name",
    ],
    [
      'a damaged source is reported as one',
      "if (failure !== 'input-output') return",
      "if (failure !== 'input-output') return false &&",
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
      `${unsynced} source.prepare('VACUUM INTO ?')`,
    ],
    [
      'the copy is written under another name',
      "const temporary = `${to}.${randomBytes(6).toString('hex')}.partial`;",
      'const temporary = to; void randomBytes;',
    ],
  ),
  ...of(
    'find-damage.ts',
    'read-errors',
    [
      'an I/O error is not reported as damage',
      'unread !== undefined || again.length === 0',
      'unread !== undefined',
    ],
    [
      'a page that cannot be read is an I/O error',
      'const unread = [...found, ...again].find(isInputOutput);',
      'const unread = undefined;',
    ],
  ),
  ...of(
    'check-plants.ts',
    'check-plants',

    ['the size of the WAL is reported', 'walSize: walSize(file),', 'walSize: 0,'],
  ),
  ...of(
    'read-plants.ts',
    'read-plants',
    ['reading bounds the text in memory', 'if (text >= batch.maxText) break;', ''],
    ['ids are exact', '  select.setReadBigInts(true);\n', ''],
    [
      'the plants before a damaged page are read',
      'if (plants.length > 0) yield ok(plants);',
      'if (plants.length > 0 && error === undefined) yield ok(plants);',
    ],

    ['reading prevents no checkpoint', 'LIMIT ${batch.maxPlants}', ''],
  ),
  ...of('open-sqlite-repository.ts', 'check', [
    'a closed repository fails its check',
    'if (closing !== undefined) {',
    'if (closing === null) {',
  ]),
  ...of(
    'rewriter.ts',
    'rewriter',
    [
      'a file keeps its size when it is written again',
      'if (position > size) ftruncateSync(file, size);',
      '',
    ],
    [
      'a file is written again from an offset within a block',
      'let position = from - (from % block);',
      'let position = from;',
    ],
  ),
  ...of(
    'backup-worker.ts',
    'copies-killed',
    ['a copy has one name after a power cut', '  unlinkSync(temporary);\n', ''],
    ['a copy that is being written is private', "'wx', 0o600", "'wx', 0o666"],
  ),
  ...of('database-file.ts', 'failed-syncs', [
    'pages of a failed checkpoint are written again',
    '    rewriteTail(database, path);\n',
    '',
  ]),
  ...of('database-file.ts', 'bad-files', [
    'a file has one owner',
    'findOtherPath(file) ?? acquireOwnerLock(file);',
    'findOtherPath(file) ?? acquireOwnerLock(`${file}-${Math.random()}`);',
  ]),
  ...of('database-file.ts', 'mount-point', [
    'a file that is mounted alone is refused',
    "return isMountPoint(file) ? { kind: 'mount-point' } : undefined;",
    'return undefined;',
  ]),
  // After a failed sync.
  ...of('commit-worker.ts', 'failed-calls', [
    'an I/O error makes the next thread write the file again',
    "mustRewrite: failure === 'input-output' };",
    'mustRewrite: false };',
  ]),
  // Beside other programs.
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
  ...of('foreign-wal.ts', 'foreign-wal', [
    'a truncated last page is refused',
    'Math.floor(size / wal.pageSize)',
    'Math.ceil(size / wal.pageSize)',
  ]),
  ...of('plants-table.ts', 'other-programs', [
    'of a batch that fails, nothing is stored',
    "if (database.isTransaction) database.exec('ROLLBACK');",
    "if (database.isTransaction) database.exec('COMMIT');",
  ]),
  ...of('foreign-wal.ts', 'foreign-wal', [
    'a file that another program writes is not refused',
    ' && stateOf(path) === before',
    '',
  ]),
  ...of('backup-worker.ts', 'read-errors', [
    'a copy that cannot be written is not reported as a fault of the source',
    "'cannot-open', 'read-only']",
    "'cannot-open']",
  ]),
  ...of(
    'commit-worker.ts',
    'failed-syncs',
    [
      'a close writes the pages of a failed checkpoint again',
      '    // The plants remain in the WAL file.\n    rewriteOrKeepWal(opened);\n',
      '',
    ],
    [
      'another program can open the file after a close whose checkpoint failed',
      '    // The plants remain in the WAL file.\n    rewriteOrKeepWal(opened);\n',
      '    opened.database.keepWal();\n',
    ],
    [
      'a process can end after a failed checkpoint',
      '    rewriteOrKeepWal(opened);\n    return failure;',
      '    return failure;',
    ],

    [
      'a close keeps the WAL file when the pages of a failed checkpoint cannot be written again',
      '  database.keepWal();\n',
      '',
    ],
  ),
  ...of('rewriter.ts', 'failed-syncs', [
    'data that is written around the page cache is read back from the disk',
    'if (found.equals(written)) return;',
    'return;',
  ]),
  ...of('owned-database.ts', 'failed-syncs', [
    'a WAL file is kept until the connection is closed',
    "reader.exec('SELECT count(*) FROM sqlite_schema');",
    '',
  ]),
  ...of('database-file.ts', 'power-cut', [
    'a WAL file whose syncs failed is written again, also while another program reads',
    '  try {\n    rewriteWal(path);\n  } finally {',
    '  try {\n    void 0;\n  } finally {',
  ]),
  ...of('owner-lock.ts', 'owner-lock', [
    'a lock file without write access has no owner',
    '; PRAGMA user_version = 1',
    '',
  ]),
  ...of('open-sqlite-repository.ts', 'check', [
    'a close waits for the checks',
    '.then(async () => runExclusively(close))',
    '.then(close)',
  ]),
  ...of('exclusive-lock.ts', 'exclusive-lock', [
    'other programs read the file after it was written again',
    "    database.exec('SELECT count(*) FROM sqlite_schema');\n",
    '',
  ]),
];
