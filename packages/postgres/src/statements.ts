import type { NewPlant } from '@plantstore/core';

/** A statement and its parameters. */
export type Statement = { readonly text: string; readonly values: readonly unknown[] };

/** An identifier as it is written in SQL. */
export const quoted = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;

// Within the statement, because a pooler in transaction mode keeps no session's settings. A
// stronger setting than `on`, and a weaker one that still flushes, stay the operator's choice.
// And that a wait for a standby was canceled is a warning, which the server must send.
const durable = `(SELECT CASE current_setting('synchronous_commit') WHEN 'off'
  THEN set_config('synchronous_commit', 'on', true) ELSE 'as it is' END) IS NOT NULL
  AND (SELECT set_config('client_min_messages', 'warning', true)) IS NOT NULL`;

// A row can be seen before it is durable: its commit may have been asynchronous, or its wait for the
// standby canceled. A log record of our own is behind it, so that when ours is durable, it is too.
const settled = `(SELECT pg_logical_emit_message(true, 'plantstore', '')) IS NOT NULL`;

// Within the statement too. An insert waits for a transaction of another session that has inserted
// or deleted the same id, however long that transaction stays open.
const lockTimeout = `(SELECT set_config('lock_timeout', $5::text, true)) IS NOT NULL`;

const escaped = String.raw`\$&`;

// The driver would quote and escape each number, too.
const textArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, escaped)}"`).join()}}`;

const insertInto = (table: string): string => `INSERT INTO ${table} (id, name, tag)`;

/**
 * Inserts plants whose ids are free and returns their rows, which a trigger may have changed. The text
 * is the same for any plants.
 *
 * @param table - with its schema, as it is written in SQL
 * @param plants - sorted by id
 * @param lockTimeoutMs - how long each wait for a locked id may take, in milliseconds; then the
 * statement fails with SQLSTATE 55P03
 */
export const insertStatement = (
  table: string,
  plants: readonly NewPlant[],
  lockTimeoutMs: number,
): Statement => ({
  // No NULL in the arrays: where array_nulls is off, it would be the text 'NULL'.
  text: `${insertInto(table)} SELECT id, name, CASE WHEN tagged THEN tag END
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bool[]) AS new (id, name, tag, tagged)
    WHERE ${durable} AND ${lockTimeout} ON CONFLICT (id) DO NOTHING RETURNING id, name, tag`,
  values: [
    `{${plants.map(({ id }) => id).join()}}`,
    textArray(plants.map(({ name }) => name)),
    textArray(plants.map(({ tag }) => tag ?? '')),
    `{${plants.map(({ tag }) => tag !== undefined).join()}}`,
    lockTimeoutMs,
  ],
});

/**
 * Reads plants by the ids of others; what it gives is durable. Of a text it reads as much as tells it
 * from theirs, so that a few short plants cannot ask for a thousand long ones.
 */
export const readStatement = (table: string, others: readonly NewPlant[]): Statement => {
  const sizes = new Map<bigint, number>();
  for (const { id, name, tag = '' } of others) {
    // One more than there are, in UTF-16 code units, of which a character has at least one.
    sizes.set(id, Math.max(sizes.get(id) ?? 0, name.length + 1, tag.length + 1));
  }
  return {
    text: `SELECT id, left(name, size), left(tag, size) FROM ${table}
      JOIN unnest($1::bigint[], $2::int[]) AS wanted (id, size) USING (id)
      WHERE ${durable} AND ${settled}`,
    values: [[...sizes.keys()].map(String), [...sizes.values()]],
  };
};

/**
 * Finds inserts of plants, of whatever host, that have been running for some time. The server shows
 * those of the same role.
 */
export const runningStatement = (table: string, milliseconds: number): Statement => ({
  text: `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND starts_with(query, $1)
    AND query_start < clock_timestamp() - make_interval(secs => $2) AND datname = current_database()`,
  values: [insertInto(table), milliseconds / 1_000],
});
