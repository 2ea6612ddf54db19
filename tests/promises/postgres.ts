import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/postgres/src');

export const postgres = [
  ...of('statements.ts', 'open-postgres-repository', [
    'the start of a stored text is another text',
    'name.length + 1, tag.length + 1)',
    'name.length, tag.length)',
  ]),
  ...of('check.ts', 'several-servers', [
    'the check leaves a read-only server',
    "      session.destroy();\n      return unavailable('the database has become read-only');",
    "      return unavailable('the database has become read-only');",
  ]),
  ...of(
    'statements.ts',
    'durability',
    [
      'a plant is durable, also when the server commits asynchronously',
      "THEN set_config('synchronous_commit', 'on', true)",
      "THEN 'off'",
    ],
    [
      'a plant that exists is durable once it is acknowledged',
      'WHERE ${durable} AND ${afterPendingCommits}`',
      'WHERE ${durable}`',
    ],
  ),
  ...of('statements.ts', 'canceled-wait', [
    'a canceled wait for a standby is detected',
    "set_config('client_min_messages', 'warning', true)",
    "set_config('client_min_messages', 'error', true)",
  ]),
  ...of('session.ts', 'canceled-wait', [
    'a commit that may not have reached the standby fails',
    "if (isInDoubt) throw new Error('the commit may not have reached the standby');",
    'void isInDoubt;',
  ]),
  ...of('statements.ts', 'many-plants', [
    'comparing reads only as much text as it needs',
    'left(name, size), left(tag, size)',
    'name, tag',
  ]),
  ...of(
    'statements.ts',
    'open-postgres-repository',
    ['an absent tag is not an empty one', 'CASE WHEN tagged THEN tag END', 'tag'],
    ['a different plant of the same start is refused', 'name.length + 1, tag.length + 1', '1, 1'],
  ),
  ...of('statements.ts', 'locked-ids', [
    'a wait for a lock has a timeout',
    'WHERE ${durable} AND ${lockTimeout} ON CONFLICT',
    'WHERE ${durable} ON CONFLICT',
  ]),
  ...of('statements.ts', 'unusable-table', [
    'a quote in the name of a schema is escaped',
    `identifier.replaceAll('"', '""')`,
    'identifier',
  ]),
  ...of(
    'commit-batch.ts',
    'open-postgres-repository',
    ['the stored tag is compared', ' && row[2] === (tag ?? null)', ''],
    ['the stored name is compared', 'row[1] === name && ', ''],
    ['of plants with one id the first is inserted', 'if (!firsts.has(plant.id)) firsts', 'firsts'],
  ),
  ...of('commit-batch.ts', 'statements', ['batches lock ids in one order', '.toSorted(byId)', '']),
  ...of('commit-batch.ts', 'many-plants', [
    'a plant that a trigger discards is not acknowledged',
    'notKept(new Error(missingReason))',
    'ok()',
  ]),
  ...of(
    'commit-batch.ts',
    'prepared-insert',
    ['the insert is prepared', '{ ...statement, name: nameOf(statement.text) }', 'statement'],
    [
      'a pooler that rejects prepared statements is used without',
      'if (!mayBeCausedByPreparation(thrown)) throw thrown;',
      'throw thrown;',
    ],
    ['the insert is not prepared again after a rejection', '        isPrepared = false;\n', ''],
  ),
  ...of('commit-batch.ts', 'locked-ids', [
    'a locked id is no failure of the batch',
    "if (sqlStateOf(thrown) === lockNotAvailable) return 'locked';",
    '',
  ]),
  ...of(
    'lane.ts',
    'faults',
    [
      'a create is retried until its deadline',
      'if (isPermanent || performance.now() + pause >= deadline) throw thrown;',
      'throw thrown;',
    ],
    [
      'a connection that works is kept',
      "if (strategy === 'reconnect') abandonSession();",
      'abandonSession();',
    ],
    [
      'few connections are left on a frozen server',
      'if (cancels.length > maxRunningStatements) cancels.shift()?.();',
      '',
    ],
  ),
  ...of('lane.ts', 'many-plants', [
    'one plant that is refused fails no other',
    "plants.length > 1 && retryStrategyOf(thrown) === 'split'",
    'false',
  ]),
  ...of('lane.ts', 'locked-ids', [
    'the reason names the lock',
    'if (isLastAttempt || performance.now() >= deadline) throw new Error(lockedReason);',
    "if (isLastAttempt || performance.now() >= deadline) throw new Error('timed out');",
  ]),
  ...of(
    'open-postgres-repository.ts',
    'statements',
    [
      'a batch has at most 1,000 plants',
      'const maxBatchPlants = 1_000;',
      'const maxBatchPlants = 2_000;',
    ],
    [
      'the text of a batch is bounded',
      'const maxBatchText = 4 * 1_024 * 1_024;',
      'const maxBatchText = 40 * 1_024 * 1_024;',
    ],
  ),
  ...of(
    'open-postgres-repository.ts',
    'many-plants',
    ['creates beyond maxWaiting are refused', '      ...limits,\n', ''],
    ['a close commits the queued plants', '    await mainGroup.close();\n', ''],
  ),
  ...of('open-postgres-repository.ts', 'check', [
    'a closed repository fails its check',
    '[checker, lockedLane, ...lanes]',
    '[lockedLane, ...lanes]',
  ]),
  ...of(
    'check.ts',
    'check',
    ['a read-only server fails the check', "if (row[0] === 'off') return ok();", 'return ok();'],
    ['the check has one connection', 'if (session?.isUsable() !== true) session', 'session'],
    ['checks at the same time are one', 'running ??= runCheck()', 'running = runCheck()'],
  ),
  ...of('cancel-statement.ts', 'faults', [
    'a statement without a response is cancelled',
    'socket.end(request);',
    'socket.end();',
  ]),
  ...of('session.ts', 'programs', [
    'an open repository does not keep the process alive',
    '        socket.unref();\n',
    '',
  ]),
  ...of('session.ts', 'faults', [
    'a statement has a timeout',
    'await throwAfterTimeout(options.statementTimeoutMs, result)',
    'await result',
  ]),
  ...of(
    'session.ts',
    'bad-input',
    [
      'connecting has a timeout',
      'await throwAfterTimeout(options.connectTimeoutMs, client.connect());',
      'await client.connect();',
    ],
    [
      'TLS that the URL requires is not left out',
      'if (!options.isTlsOptional || !isTlsUnsupported(thrown)) throw thrown;',
      'if (!isTlsUnsupported(thrown)) throw thrown;',
    ],
    ['the password file is read', '(await readPassFile(address, options)) ?? ', ''],
  ),
  ...of('session.ts', 'malformed-messages', [
    'a malformed message does not end the process',
    '  guardParsing(socket);\n',
    '',
  ]),
  ...of(
    'session.ts',
    'tls',
    [
      'a malformed message over TLS does not end the process',
      'guardParsing(client.connection.stream);',
      '',
    ],
    [
      'channel binding is required',
      'if (options.requiresChannelBinding) requireChannelBinding(client.connection);',
      '',
    ],
  ),
  ...of(
    'channel-binding.ts',
    'tls',
    [
      'no password is sent without channel binding',
      "  connection.on('authenticationCleartextPassword', refuse);\n",
      '',
    ],
    [
      'no MD5 password is sent without channel binding',
      "  connection.on('authenticationMD5Password', refuse);\n",
      '',
    ],
    [
      'a login without channel binding is refused',
      "if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse();",
      '',
    ],
    ['a server cannot skip the login', 'if (!isBound) refuse();', ''],
  ),
  ...of(
    'connect-leader.ts',
    'several-servers',
    ['a standby is refused', "if (isReadOnly !== 'f') {", 'if (false) {'],
    [
      'every server is tried',
      '    failures.push(tried.error);\n',
      '    failures.push(tried.error);\n    break;\n',
    ],
  ),
  ...of('connect-leader.ts', 'unusable-table', [
    'a database that is not in UTF-8 is refused',
    "encoding === 'UTF8'",
    "encoding !== ''",
  ]),
  ...of('connect-leader.ts', 'bad-input', [
    'a server that does not respond is unreachable',
    'await throwAfterTimeout(options.connectTimeoutMs, refusalOf(session))',
    'await refusalOf(session)',
  ]),
  ...of(
    'plants-table.ts',
    'unusable-table',
    ['a table that loses plants is refused', 'if (!isLogged) return', 'if (false) return'],
    [
      'a table with another definition is refused',
      'found.toSorted().join() === columns.join() ? undefined',
      'found.length >= 0 ? undefined',
    ],
    ['a missing privilege is named', 'if (missing.length > 0) {', 'if (false) {'],
    [
      'a rule on the table is refused',
      "const unsupportedTableCodes = ['428C9', '0A000'];",
      "const unsupportedTableCodes = ['428C9'];",
    ],
    [
      'the statements to run are named',
      "const deniedCodes = ['42501', '3F000', '25006'];",
      'const deniedCodes: string[] = [];',
    ],
  ),
  ...of('plants-table.ts', 'many-repositories', [
    'several processes can start on an empty database',
    "const concurrentCreateCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];",
    'const concurrentCreateCodes: string[] = [];',
  ]),
  ...of(
    'server-failure.ts',
    'faults',
    ['a former leader is left', "[/^(25006|57P0.|08...)$/, 'reconnect'],", ''],
    ['a serialization failure is retried', "[/^(40001|40P01|40003)$/, 'repeat'],", ''],
  ),
  ...of('server-failure.ts', 'many-plants', [
    'a row that a policy refuses fails no other',
    "if (isRowSecurityViolation(thrown)) return 'split';",
    '',
  ]),
  ...of('pass-file.ts', 'pass-file', [
    'a socket has the host localhost in the password file',
    "host.startsWith('/') ? findFor('localhost') : undefined",
    'undefined',
  ]),
  ...of(
    'database-url.ts',
    'database-url',
    ['an empty variable is not used', "filter(([, text]) => text !== '')", 'filter(() => true)'],
    [
      'an @ after the host is refused',
      "if (path.includes('@') || query.includes('@')) {",
      'if (false) {',
    ],
    [
      'sslmode=verify-ca needs a CA',
      "sslmode === 'verify-ca' && sslrootcert === 'system'",
      'false',
    ],
    [
      'channel binding needs TLS',
      "others.channel_binding === 'require' && sslmode === 'disable'",
      'false',
    ],
    ['white space in a password is kept', '.replaceAll(/[ \\t\\n\\r]/g, encodeURIComponent)', ''],
    [
      'no error contains a part of a password',
      "const isPasswordComplete = at !== -1 || !authority.includes(':');",
      'const isPasswordComplete = true;',
    ],
  ),
  ...of(
    'url-parameters.ts',
    'database-url',
    ['an unknown parameter is refused', 'if (!isKnown(name)) {', 'if (false) {'],
    ['a value that has an effect is refused', 'if (!values.includes(value)) {', 'if (false) {'],
    [
      'a variable is the default of a parameter',
      'if (value !== undefined) parameters.set(name, value);',
      '',
    ],
  ),
  ...of(
    'read-plants.ts',
    'read-plants',
    [
      'reading starts after the id',
      'let last = after ?? smallestId - 1n;',
      'let last = smallestId - 1n;',
    ],
    [
      'an absent tag stays absent',
      "typeof tag === 'string' ? { ...plant, tag } : plant",
      "{ ...plant, tag: tag ?? '' }",
    ],
    ['long plants are read', "typeof page === 'string'", 'page !== undefined'],
    ['ids are exact', 'json_build_array(id::text,', 'json_build_array(id,'],
  ),
  ...of('statements.ts', 'open-postgres-repository', [
    'texts with quotes and backslashes are kept',
    'text.replaceAll(/["\\\\]/g, escaped)',
    'text',
  ]),
  ...of('throw-after-timeout.ts', 'throw-after-timeout', [
    'no timer is left',
    '    clearTimeout(timer);\n',
    '',
  ]),
  ...of(
    'lane.ts',
    'faults',
    [
      'a lane ends its retries at the deadline',
      'isPermanent || performance.now() + pause >= deadline',
      'isPermanent',
    ],
    [
      'a create fails at once when a retry cannot succeed',
      "strategy === 'split' || strategy === 'fail'",
      "strategy === 'split'",
    ],
    ['the reason of a deadline has the last failure', '        failure = thrown;\n', ''],
    [
      'the reason of a deadline has no failure before a success',
      '        failure = undefined;\n',
      '',
    ],
  ),
  ...of('open-postgres-repository.ts', 'faults', [
    'the reason of a deadline has the failure of a connection',
    'lanes.map(({ lastFailure }) => lastFailure()).find((one) => one !== undefined)',
    'undefined',
  ]),
  ...of('open-postgres-repository.ts', 'locked-ids', [
    'a close waits for the creates of locked ids',
    '    await lockedGroup.close();\n',
    '',
  ]),
  ...of('connect-leader.ts', 'faults', [
    'the server that failed is tried last',
    'last === undefined ? others : [...others, last]',
    'options.addresses',
  ]),
  ...of('read-plants.ts', 'read-plants', [
    'reading bounds the text in memory',
    'const maxPageBytes = 4 * 2 ** 20;',
    'const maxPageBytes = 40 * 2 ** 20;',
  ]),
  ...of('session.ts', 'faults', [
    'a close does not wait for a server that does not respond',
    'await throwAfterTimeout(closeTimeoutMs, client.end()).catch(() => {});',
    'await client.end();',
  ]),
  ...of('cancel-statement.ts', 'faults', [
    'a statement is cancelled over a Unix-domain socket, too',
    "host.startsWith('/')",
    "host === ''",
  ]),
  ...of('connect-leader.ts', 'several-servers', [
    'no connection to a standby remains',
    '    await session.close();\n    return err(refusal);',
    '    return err(refusal);',
  ]),
  ...of('database-url.ts', 'database-url', [
    'a long timeout is not a short one',
    'Math.min(seconds * 1_000, maxTimerMs)',
    'seconds * 1_000',
  ]),
  ...of('read-plants.ts', 'read-plants', [
    'reading leaves no connection',
    '  } finally {\n    await session.close();\n  }',
    '  } finally {\n  }',
  ]),
  ...of('open-postgres-repository.ts', 'faults', [
    'a statement ends at the deadline of its create',
    'statementTimeoutMs: Math.min(statementTimeoutMs, createOptions.deadlineMs)',
    'statementTimeoutMs',
  ]),
  ...of('open-postgres-repository.ts', 'locked-ids', [
    'creates of locked ids are in flight',
    'mainGroup.waiting() + lockedGroup.waiting()',
    'mainGroup.waiting()',
  ]),
];
