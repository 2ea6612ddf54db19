import type { NewPlant } from '@plantstore/core';
import { columnNames, textNames, textsOf } from './columns.ts';
import type { Query } from './session.ts';

/**
 * Returns a statement that inserts sorted plants whose ids do not exist, and returns their rows,
 * which a trigger may have changed. Its text does not depend on the plants. It fails with 55P03
 * when a wait for a locked id times out.
 */
export function insertStatement(table: string, plants: readonly NewPlant[], lockMs: number): Query {
  return {
    text: `INSERT INTO ${table} (${allColumns}) SELECT ${allColumns}
      FROM json_to_recordset($2::json) AS new (${typedColumns}) WHERE ${durable} AND ${lockTimeout}
      ON CONFLICT (id) DO NOTHING RETURNING ${allColumns}`,
    values: [lockMs, JSON.stringify(plants.map(textsOf))],
  };
}

/**
 * Returns a statement that reads the stored plants with the ids of others; its rows are durable. It
 * reads the text that the comparison needs: short plants cause no transfer of long ones.
 */
export function readStatement(table: string, others: readonly NewPlant[]): Query {
  const sizes = new Map<bigint, number>();
  for (const plant of others) {
    // One more than the length. A character of PostgreSQL is at least one UTF-16 code unit.
    const texts = textsOf(plant);
    const lengths = textNames.map((name) => (texts[name]?.length ?? 0) + 1);
    sizes.set(plant.id, Math.max(sizes.get(plant.id) ?? 0, ...lengths));
  }
  return {
    text: `SELECT id, ${textNames.map((name) => `left(${name}, wanted.size)`).join(', ')}
      FROM ${table} JOIN unnest($1::bigint[], $2::int[]) AS wanted (id, size) USING (id)
      WHERE ${durable} AND ${afterPendingCommits}`,
    values: [[...sizes.keys()].map(String), [...sizes.values()]],
  };
}

// In the statement, because a pooler in transaction mode keeps no settings. Every value but `off`
// flushes the WAL. client_min_messages includes the warning of a canceled wait for a standby.
const durable = `(SELECT CASE current_setting('synchronous_commit') WHEN 'off'
  THEN set_config('synchronous_commit', 'on', true) ELSE 'as it is' END) IS NOT NULL
  AND (SELECT set_config('client_min_messages', 'warning', true)) IS NOT NULL`;

// A row can be visible before it is durable, after an asynchronous commit or a canceled wait for a
// standby. This writes a WAL record after the commit record of the row: when it is durable, the row
// is, too.
const afterPendingCommits = `(SELECT pg_logical_emit_message(true, 'plantstore', '')) IS NOT NULL`;

// An insert waits for an open transaction that has inserted or deleted the same id.
const lockTimeout = `(SELECT set_config('lock_timeout', $1::text, true)) IS NOT NULL`;

const allColumns = columnNames.join(', ');
const typedColumns = ['id bigint', ...textNames.map((name) => `${name} text`)].join(', ');
