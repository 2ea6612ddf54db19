import type { NewPlant } from '@plantstore/core';
import { sqlStateOf } from './server-failure.ts';
import type { Row, Session } from './session.ts';
import { insertStatement, readStatement, type Statement, type Target } from './statements.ts';

/**
 * What became of a plant: it is in the table; another content is there under its id; or nothing is,
 * although it was inserted: a trigger dropped it, a policy hides it, or somebody removed it.
 */
export type Outcome = 'kept' | 'id-taken' | 'missing';

const lockNotAvailable = '55P03';

const byId = (one: NewPlant, other: NewPlant): number => (one.id < other.id ? -1 : 1);

/** How long a statement may take, and how long it may wait for each locked id, in milliseconds. */
export type Timeouts = { readonly statementMs: number; readonly lockMs: number };

/**
 * Inserts plants, or compares them with the rows of their ids. When it returns, the outcomes are
 * durable. The first statement commits by itself and inserting is idempotent, so after any failure
 * the whole can be repeated. Of several plants with one id, the first is inserted.
 *
 * @returns the outcome of each plant, or `locked`: another session's transaction has inserted or
 * deleted an id and has not ended, and no plant was inserted
 */
export const commitBatch = async (
  session: Session,
  target: Target,
  plants: readonly NewPlant[],
  { statementMs, lockMs }: Timeouts,
): Promise<readonly Outcome[] | 'locked'> => {
  const found = new Map<bigint, Row>();
  const run = async (statement: Statement) => {
    for (const row of await session.query(statement, statementMs))
      found.set(BigInt(row[0] ?? ''), row);
  };

  const firsts = new Map<bigint, NewPlant>();
  for (const plant of plants) if (!firsts.has(plant.id)) firsts.set(plant.id, plant);
  try {
    // Sorted, because batches that take their locks in different orders deadlock.
    await run(insertStatement(target, [...firsts.values()].toSorted(byId), lockMs));
  } catch (thrown) {
    if (target.dialect === 'postgresql' && sqlStateOf(thrown) === lockNotAvailable) return 'locked';
    throw thrown;
  }
  const others = plants.filter(({ id }) => !found.has(id));
  if (others.length > 0) await run(readStatement(target, others));

  return plants.map(({ id, name, tag }) => {
    const row = found.get(id);
    if (row === undefined) return 'missing';
    // Compared here and not in SQL, where a collation could call two texts equal.
    return row[1] === name && row[2] === (tag ?? null) ? 'kept' : 'id-taken';
  });
};
