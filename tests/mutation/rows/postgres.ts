import { rowsIn } from './rows-in.ts';

const of = rowsIn('packages/postgres/src');

export const postgres = [
  ...of('check.ts', 'check', [
    'the check has one connection',
    'if (session?.isUsable() !== true) session',
    'session',
  ]),
  ...of('commit-batch.ts', 'prepared-insert', [
    'the insert is prepared',
    '{ ...statement, name: nameOf(statement.text) }',
    'statement',
  ]),
  ...of('commit-batch.ts', 'statements', ['batches lock ids in one order', '.toSorted(byId)', '']),
  ...of('connect-leader.ts', 'several-servers', [
    'every server is tried',
    '    failures.push(tried.error);\n',
    '    failures.push(tried.error);\n    break;\n',
  ]),
  ...of('connect-leader.ts', 'unusable-table', [
    'a database that is not in UTF-8 is refused',
    "encoding === 'UTF8'",
    "encoding !== ''",
  ]),
  ...of('database-url.ts', 'database-url', [
    'white space in a password is kept',
    '.replaceAll(/[ \\t\\n\\r]/g, encodeURIComponent)',
    '',
  ]),
  ...of('open-postgres-repository.ts', 'check', [
    'a closed repository fails its check',
    '[checker, lockedLane, ...lanes]',
    '[lockedLane, ...lanes]',
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
  ...of('plants-table.ts', 'many-repositories', [
    'several processes can start on an empty database',
    "const concurrentCreateCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];",
    'const concurrentCreateCodes: string[] = [];',
  ]),
  ...of('plants-table.ts', 'unusable-table', [
    'a rule on the table is refused',
    "const unsupportedTableCodes = ['428C9', '0A000'];",
    "const unsupportedTableCodes = ['428C9'];",
  ]),
  ...of(
    'read-plants.ts',
    'read-plants',
    ['ids are exact', 'json_build_array(id::text,', 'json_build_array(id,'],
    [
      'reading bounds the text in memory',
      'const maxPageBytes = 4 * 2 ** 20;',
      'const maxPageBytes = 40 * 2 ** 20;',
    ],
  ),
  ...of(
    'server-failure.ts',
    'faults',
    ['a former leader is left', "[/^(25006|57P0.|08...)$/, 'reconnect'],", ''],
    ['a serialization failure is retried', "[/^(40001|40P01|40003)$/, 'repeat'],", ''],
  ),
  ...of('session.ts', 'bad-input', [
    'connecting has a timeout',
    'await throwAfterTimeout(options.connectTimeoutMs, client.connect());',
    'await client.connect();',
  ]),
  ...of('session.ts', 'faults', [
    'a statement has a timeout',
    'await throwAfterTimeout(options.statementTimeoutMs, result)',
    'await result',
  ]),
  ...of('statements.ts', 'canceled-wait', [
    'a canceled wait for a standby is detected',
    "set_config('client_min_messages', 'warning', true)",
    "set_config('client_min_messages', 'error', true)",
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
  ...of('statements.ts', 'locked-ids', [
    'a wait for a lock has a timeout',
    'WHERE ${durable} AND ${lockTimeout} ON CONFLICT',
    'WHERE ${durable} ON CONFLICT',
  ]),
  ...of('statements.ts', 'many-plants', [
    'comparing reads only as much text as it needs',
    'left(name, size), left(tag, size)',
    'name, tag',
  ]),
  ...of(
    'statements.ts',
    'open-postgres-repository',
    [
      'the start of a stored text is another text',
      'name.length + 1, tag.length + 1)',
      'name.length, tag.length)',
    ],
    ['an absent tag is not an empty one', 'CASE WHEN tagged THEN tag END', 'tag'],
    ['a different plant of the same start is refused', 'name.length + 1, tag.length + 1', '1, 1'],
    ['texts with quotes and backslashes are kept', 'text.replaceAll(/["\\\\]/g, escaped)', 'text'],
  ),
  ...of('statements.ts', 'unusable-table', [
    'a quote in the name of a schema is escaped',
    "identifier.replaceAll('\"', '\"\"')",
    'identifier',
  ]),
];
