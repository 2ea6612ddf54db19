import { hash } from 'node:crypto';
import type { NewPlant } from '@plantstore/core';
import { remedyOf, sqlStateOf } from './server-failure.ts';
import type { Query, Row, Session } from './session.ts';
import { insertStatement, readStatement } from './statements.ts';

/**
 * The result for a plant: the table has it; the table has another plant with its id; or neither,
 * although it was inserted: a trigger dropped it, a policy hides it, or another session removed it.
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
export type CommitBatch = (
  session: Session,
  plants: readonly NewPlant[],
  timeouts: Timeouts,
) => Promise<readonly Outcome[] | 'locked'>;

/**
 * Whether an insert may have failed only because it is prepared. A pooler in transaction mode runs the
 * statements of one connection on several of the server's: one of these may not have the prepared
 * statement (26000), or have it already (42P05). Other poolers refuse it, by 08P01 or a code of their
 * own. 0A000: the types of the table's columns changed.
 */
const mayBePreparation = (thrown: unknown): boolean =>
  ['26000', '08P01'].includes(sqlStateOf(thrown) ?? '') || remedyOf(thrown) === 'give-up';

// By its text: in a pooler, a fixed name could be that of a statement for another table.
const nameOf = (text: string): string => `plantstore_${hash('sha256', text).slice(0, 32)}`;

/**
 * Creates the function that commits the batches of a repository. It prepares the insert on each
 * connection, until that may have made one fail. From then on it prepares none.
 */
export const createCommitBatch = (table: string): CommitBatch => {
  let isPrepared = true;

  return async (session, plants, { statementMs, lockMs }) => {
    const found = new Map<bigint, Row>();
    const run = async (query: Query) => {
      for (const row of await session.query(query, statementMs)) {
        found.set(BigInt(row[0] ?? ''), row);
      }
    };
    const insert = async (sorted: readonly NewPlant[]) => {
      const statement = insertStatement(table, sorted, lockMs);
      if (!isPrepared) return run(statement);
      try {
        return await run({ ...statement, name: nameOf(statement.text) });
      } catch (thrown) {
        if (!mayBePreparation(thrown)) throw thrown;
        isPrepared = false;
        return run(statement);
      }
    };

    const firsts = new Map<bigint, NewPlant>();
    for (const plant of plants) if (!firsts.has(plant.id)) firsts.set(plant.id, plant);
    try {
      // Sorted, because batches that take their locks in different orders deadlock.
      await insert([...firsts.values()].toSorted(byId));
    } catch (thrown) {
      if (sqlStateOf(thrown) === lockNotAvailable) return 'locked';
      throw thrown;
    }
    const others = plants.filter(({ id }) => !found.has(id));
    if (others.length > 0) await run(readStatement(table, others));

    return plants.map(({ id, name, tag }) => {
      const row = found.get(id);
      if (row === undefined) return 'missing';
      // Compared here and not in SQL, where a collation could call two texts equal.
      return row[1] === name && row[2] === (tag ?? null) ? 'kept' : 'id-taken';
    });
  };
};
