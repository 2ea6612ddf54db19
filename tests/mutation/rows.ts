/** A change of the sources by hand that breaks a promise. */
export type Row = readonly [
  promise: string,
  /** The end of the path of the test file that must fail, without `.test.ts`. */
  test: string,
  /** Text that occurs exactly once in the sources of the packages. */
  text: string,
  replacement: string,
];

/** At most 40, of durability, SQL and secrets, where neither Stryker nor a type notices the change. */
export const rows: readonly Row[] = [
  // Durability
  [
    'a plant that is acknowledged survives a power cut',
    'sqlite/src/power-cut',
    'PRAGMA synchronous = FULL',
    'PRAGMA synchronous = NORMAL',
  ],
  [
    'a backup survives a power cut',
    'copies-killed',
    "source.prepare('VACUUM INTO ?')",
    "source.exec('PRAGMA synchronous = OFF'); source.prepare('VACUUM INTO ?')",
  ],
  [
    'a plant that was written before a failed sync is written again',
    'sqlite/src/commit/failed-syncs',
    '    database.rewriteWal();\n    database.rewriteTail();\n    syncWal(database.file.name);',
    '    syncWal(database.file.name);',
  ],
  [
    'a file is written again after an I/O error',
    'sqlite/src/commit/failed-calls',
    "mustRewrite: failure === 'input-output' };",
    'mustRewrite: false };',
  ],
  [
    'data is written around the page cache after a failed sync',
    'ext4',
    'const direct = this.#openDirect(path);',
    'const direct = undefined;',
  ],
  [
    'a file is written again from an offset within a block',
    'open/rewriter',
    'let position = from - (from % block);',
    'let position = from;',
  ],
  [
    'no other program writes while the file is written again',
    'open/rewriter',
    'PRAGMA locking_mode = EXCLUSIVE',
    'PRAGMA locking_mode = NORMAL',
  ],
  [
    'no descriptor is closed while the file is locked',
    'open/rewriter',
    'this.#descriptors.push(descriptor)',
    'closeSync(descriptor)',
  ],
  [
    'no frame of another program is overwritten in a WAL file',
    'other-programs',
    "not write to the WAL file.\n  database.exec('BEGIN IMMEDIATE');",
    "not write to the WAL file.\n  database.exec('BEGIN');",
  ],
  [
    'a renamed file contains every plant after the close',
    'sqlite/src/recovery',
    'busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)',
    'busy_timeout = 0; PRAGMA wal_checkpoint(PASSIVE)',
  ],
  [
    'a file has one owner',
    'bad-files',
    'acquireOwnerLock(path, name)',
    'acquireOwnerLock(path, `${name}-${Math.random()}`)',
  ],
  [
    'a backup replaces no file',
    'back-up-plants',
    'fs.linkSync(temporary, to);',
    'fs.rmSync(to, { force: true }); fs.linkSync(temporary, to);',
  ],
  [
    'a plant is durable, also when the server commits asynchronously',
    'postgres/src/durability',
    "THEN set_config('synchronous_commit', 'on', true)",
    "THEN 'off'",
  ],
  [
    'a plant that exists is durable once it is acknowledged',
    'postgres/src/durability',
    'WHERE ${durable} AND ${afterPendingCommits}`',
    'WHERE ${durable}`',
  ],
  [
    'a canceled wait for a standby is detected',
    'postgres/src/durability',
    "set_config('client_min_messages', 'warning', true)",
    "set_config('client_min_messages', 'error', true)",
  ],
  // SQL
  [
    'nothing is ever overwritten',
    'sqlite/src/repository',
    'ON CONFLICT DO NOTHING`;',
    'ON CONFLICT DO UPDATE SET name = excluded.name`;',
  ],
  [
    'every member is compared in SQLite',
    'sqlite/src/repository',
    "IS ?`).join(' AND ');",
    "IS ?`).join(' OR ');",
  ],
  ['a unique index is refused', 'altered-table', 'WHERE "unique"', 'WHERE "unique" AND 0'],
  ['the case of its table hides no trigger', 'altered-table', '\n      COLLATE NOCASE', ''],
  [
    'a read prevents no checkpoint',
    'sqlite/src/read/read-plants',
    'plants.length < limits.plants && ',
    '',
  ],
  [
    'a page with the content of a later one ends a reading',
    'sqlite/src/read/read-plants',
    'this.#isOwn && this.#hasSkipped(before, count)',
    'before > this.#lastId',
  ],
  [
    'a file that is overwritten at rest ends a reading',
    'sqlite/src/read/read-plants',
    'found.database === before.database',
    'before !== undefined',
  ],
  [
    'a check does what a create does',
    'sqlite/src/check',
    'if (batch[0].length === 0) this.#database.exec(writeHeader);',
    '',
  ],
  [
    'a start runs no checkpoint whose failure is not reported',
    'sqlite/src/commit/failed-syncs',
    "database.exec('PRAGMA wal_autocheckpoint = 0');",
    '',
  ],
  [
    'a WAL file that has lost plants is noticed',
    'acts-in-place',
    "this.#canReadLastPlants() ? undefined : { kind: 'wal-shortened' }",
    'undefined',
  ],
  [
    'batches lock ids in one order',
    'postgres/src/commit/statements',
    '.toSorted((one, other) => (one.id < other.id ? -1 : 1))',
    '',
  ],
  [
    'a wait for a lock has a timeout',
    'locked-ids',
    'WHERE ${durable} AND ${lockTimeout}\n',
    'WHERE ${durable}\n',
  ],
  [
    'a plant in a transaction that a pooler has opened is not acknowledged',
    'open-transaction',
    "if (this.#client.getTransactionStatus() !== 'I')",
    'if (this.#socket.destroyed)',
  ],
  [
    'a check commits as a create does',
    'postgres/src/commit/check',
    'if (found === undefined) await session.query(readStatement',
    'if (found === null) await session.query(readStatement',
  ],
  [
    'a reading has read one table',
    'postgres/src/read/read-plants',
    '(await identityOf(session, table)) === identity',
    'true',
  ],
  [
    'the start of a stored text is another text',
    'postgres/src/repository',
    '(texts[name]?.length ?? 0) + 1',
    'texts[name]?.length ?? 0',
  ],
  [
    'a quote in the name of a schema is escaped',
    'unusable-table',
    "identifier.replaceAll('\"', '\"\"')",
    'identifier',
  ],
  // Secrets
  [
    'a redirect receives no token',
    'client/src/client',
    "        redirect: 'manual',",
    "        redirect: 'follow',",
  ],
  [
    'the cause of a client error shows no token',
    'client/src/redact',
    'isText(value) ? redact(tokens, value) : undefined',
    'isText(value) ? value : undefined',
  ],
  [
    'the message of a client error shows no token',
    'client/src/redact',
    'const message = redact(call.tokens, members.message);',
    'const { message } = members;',
  ],
  [
    'the body of a client error shows no token',
    'client/src/redact',
    "body: redact(call.tokens, text ?? ''), ",
    "body: text ?? '', ",
  ],
  [
    'a new token is redacted, too',
    'client/src/redact',
    'const patterns = tokens.map(patternOf);',
    'const patterns = tokens.slice(0, 1).map(patternOf);',
  ],
  [
    'each accepted token is compared',
    'accept-tokens',
    'if (timingSafeEqual(one.digest, compared)) found = one;',
    'found = one;\n      if (timingSafeEqual(one.digest, compared)) break;',
  ],
  [
    'a failure of authenticate shows no token',
    'http/admit',
    'describeAuthenticateError(thrown, token)',
    'String(thrown)',
  ],
  [
    'credentials in the cause of a fault are redacted',
    'http/describe-cause',
    'redact(describe(cause, show, 0))',
    'describe(cause, show, 0)',
  ],
  [
    'an uncaught exception is logged without a token',
    'black-box/crash',
    'thrown instanceof Error ? describeCause(thrown)',
    'thrown instanceof Error ? thrown.stack',
  ],
  [
    'the value of an unknown variable is not logged',
    'plantstore/src/main',
    '[...secretVariables, ...unknownVariables(env)]',
    'secretVariables',
  ],
  [
    'a generated token is not written to the log',
    'black-box/first-run',
    'stderr.write(`No tokens are set',
    'process.stdout.write(`No tokens are set',
  ],
  [
    'a password of a database that contains @ is not shown',
    'plantstore/src/main',
    '(?:.*@)?/s',
    '(?:.*?@)?/s',
  ],
  ['the file of a backup in progress is private', 'copies-killed', "'wx', 0o600", "'wx', 0o666"],
];
