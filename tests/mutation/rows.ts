/**
 * Changes by hand that break a promise of durability, SQL or secrecy: a text that occurs once in
 * the sources, and its replacement. No deleted statement and no turned operator is such a change.
 */
export const rows: readonly (readonly [text: string, replacement: string])[] = [
  // Durability.
  ['PRAGMA synchronous = FULL', 'PRAGMA synchronous = NORMAL'],
  [
    "source.prepare('VACUUM INTO ?')",
    "source.exec('PRAGMA synchronous = OFF'); source.prepare('VACUUM INTO ?')",
  ],
  ['let position = from - (from % block);', 'let position = from;'],
  ['PRAGMA locking_mode = EXCLUSIVE', 'PRAGMA locking_mode = NORMAL'],
  ["to the WAL file.\n  database.exec('BEGIN IMMEDIATE');", "\n  database.exec('BEGIN');"],
  ['busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)', 'PRAGMA wal_checkpoint(PASSIVE)'],
  ['fs.linkSync(temporary, to);', 'fs.renameSync(temporary, to);'],
  ["'wx', 0o600", "'wx', 0o666"],
  ["THEN set_config('synchronous_commit', 'on', true)", "THEN 'off'"],
  ['WHERE ${durable} AND ${afterPendingCommits}`', 'WHERE ${durable}`'],
  ["'client_min_messages', 'warning'", "'client_min_messages', 'error'"],
  // SQL.
  ['ON CONFLICT DO NOTHING`;', 'ON CONFLICT DO UPDATE SET name = excluded.name`;'],
  ["IS ?`).join(' AND ');", "IS ?`).join(' OR ');"],
  ['WHERE "unique"', 'WHERE "unique" AND 0'],
  ['\n      COLLATE NOCASE', ''],
  ['.toSorted((one, other) => (one.id < other.id ? -1 : 1))', ''],
  ['WHERE ${durable} AND ${lockTimeout}\n', 'WHERE ${durable}\n'],
  ['(texts[name]?.length ?? 0) + 1', 'texts[name]?.length ?? 0'],
  ["identifier.replaceAll('\"', '\"\"')", 'identifier'],
  // Tokens and passwords.
  ["        redirect: 'manual',", "        redirect: 'follow',"],
  ['isText(value) ? redact(tokens, value) : undefined', 'isText(value) ? value : undefined'],
  ['redact(call.tokens, members.message)', 'members.message'],
  ["body: redact(call.tokens, text ?? '')", "body: text ?? ''"],
  ['tokens.map(patternOf)', 'tokens.slice(0, 1).map(patternOf)'],
  ['compared)) found = one;', 'compared)) { found = one; break; }'],
  ['describeAuthenticateError(thrown, token)', 'String(thrown)'],
  ['redact(describe(cause, 0))', 'describe(cause, 0)'],
  ['thrown instanceof Error ? describeCause(thrown)', 'thrown instanceof Error ? thrown.stack'],
  ['[...secretVariables, ...unknownVariables(env)]', 'secretVariables'],
  ['stderr.write(`No tokens are set', 'process.stdout.write(`No tokens are set'],
  ['(?:.*@)?/s', '(?:.*?@)?/s'],
];
