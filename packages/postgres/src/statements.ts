import type { NewPlant } from '@plantstore/core';

/** A statement and its parameters; each is sent by itself, unnamed. */
export type Statement = { readonly text: string; readonly values: readonly unknown[] };

/**
 * How an engine is spoken to:
 *
 * - `postgresql`: arrays, and what makes a commit durable where the server would not;
 * - `arrays`: arrays only (YugabyteDB, whose commits are always durable);
 * - `rows`: a list of rows (CockroachDB, which has no `unnest` of several arrays).
 */
export type Dialect = 'postgresql' | 'arrays' | 'rows';

// Within the statement, because a pooler in transaction mode keeps no session's settings. A
// stronger setting than `on`, and a weaker one that still flushes, stay the operator's choice.
const durable = `(SELECT CASE current_setting('synchronous_commit') WHEN 'off'
  THEN set_config('synchronous_commit', 'on', true) ELSE 'as it is' END) IS NOT NULL`;

// A row can be seen before it is durable: its commit may have been asynchronous, or its wait for the
// standby canceled. A log record of our own is behind it, so that when ours is durable, it is too.
const settled = `(SELECT pg_logical_emit_message(true, 'plantstore', '')) IS NOT NULL`;

/** Inserts plants whose ids are free and gives their ids; `plants` must be sorted by id. */
export const insertStatement = (dialect: Dialect, plants: readonly NewPlant[]): Statement => {
  const conflict = 'ON CONFLICT (id) DO NOTHING RETURNING id';
  if (dialect === 'rows') {
    const rows = plants.map((_, index) => {
      const first = index * 3;
      return `($${first + 1}::bigint, $${first + 2}::text, $${first + 3}::text)`;
    });
    return {
      text: `INSERT INTO plants (id, name, tag) VALUES ${rows.join(', ')} ${conflict}`,
      values: plants.flatMap(({ id, name, tag }) => [String(id), name, tag ?? null]),
    };
  }
  const condition = dialect === 'postgresql' ? `WHERE ${durable} ` : '';
  return {
    text: `INSERT INTO plants (id, name, tag) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) ${condition}${conflict}`,
    values: [
      plants.map(({ id }) => String(id)),
      plants.map(({ name }) => name),
      plants.map(({ tag }) => tag ?? null),
    ],
  };
};

/** Reads plants by their ids; what it gives is durable. */
export const readStatement = (dialect: Dialect, ids: readonly bigint[]): Statement => {
  const condition = dialect === 'postgresql' ? ` AND ${durable} AND ${settled}` : '';
  return {
    text: `SELECT id, name, tag FROM plants WHERE id = ANY($1::bigint[])${condition}`,
    values: [ids.map(String)],
  };
};
