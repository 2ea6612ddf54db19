import { hash } from 'node:crypto';
import type { NewPlant } from '@plantstore/core';
import type { Created } from '@plantstore/core/group-commit';
import { err, ok } from 'neverthrow';
import { isContentRefused, notKept, refused, retryStrategyOf } from './failures.ts';
import { columnNames, type Row } from '../open/columns.ts';
import { sqlStateOf } from '../open/errors.ts';
import type { Query, Session } from '../open/session.ts';
import { insertStatement, readStatement } from './statements.ts';

const lockNotAvailable = '55P03';

const missingReason =
  'a trigger discarded it, a policy hides it from this role, or another session deleted it';

const byId = (one: NewPlant, other: NewPlant): number => (one.id < other.id ? -1 : 1);

/**
 * Inserts plants, and compares a plant whose id exists with the stored row. The results are durable when the
 * promise resolves. The insert is idempotent and commits by itself, so the call can be retried after any error.
 * Of several plants with one id, the first is inserted. Throws if the server refuses one of several plants for its content.
 *
 * @param lockTimeoutMs - timeout of the wait for each locked id, in milliseconds
 * @returns the result of each plant, or `locked` when an open transaction of another session has
 * inserted or deleted one of the ids; no plant was inserted then
 */
export type CommitBatch = (
  session: Session,
  plants: readonly NewPlant[],
  lockTimeoutMs: number,
) => Promise<readonly Created[] | 'locked'>;

/**
 * Whether an insert may have failed only because it is prepared. A pooler in transaction mode distributes the
 * statements of a client over several server connections, on which the prepared statement may not exist (26000)
 * or already exist (42P05). Other poolers reject it with 08P01 or their own code. 0A000: a column type changed.
 */
const mayBeCausedByPreparation = (thrown: unknown): boolean =>
  ['26000', '08P01'].includes(sqlStateOf(thrown) ?? '') || retryStrategyOf(thrown) === 'fail';

// Derived from the text, because pooled connections can have a statement for another table.
const nameOf = (text: string): string => `plantstore_${hash('sha256', text).slice(0, 32)}`;

/**
 * Creates the function that commits the batches of a repository. It uses a prepared insert on each connection,
 * until one may have failed because it was prepared. After that, it uses unprepared inserts only.
 */
export const createCommitBatch = (table: string): CommitBatch => {
  let isPrepared = true;

  return async (session, plants, lockTimeoutMs) => {
    const found = new Map<bigint, Row>();
    const run = async (query: Query) => {
      for (const row of await session.query(query)) {
        found.set(BigInt(row[0] ?? ''), row);
      }
    };
    const insert = async (sorted: readonly NewPlant[]) => {
      const statement = insertStatement(table, sorted, lockTimeoutMs);
      if (!isPrepared) return run(statement);
      try {
        return await run({ ...statement, name: nameOf(statement.text) });
      } catch (thrown) {
        if (!mayBeCausedByPreparation(thrown)) throw thrown;
        isPrepared = false;
        return run(statement);
      }
    };

    const firsts = new Map<bigint, NewPlant>();
    for (const plant of plants) if (!firsts.has(plant.id)) firsts.set(plant.id, plant);
    let refusal: unknown;
    try {
      // Sorted, because batches that acquire locks in different orders can deadlock.
      await insert([...firsts.values()].toSorted(byId));
    } catch (thrown) {
      if (sqlStateOf(thrown) === lockNotAvailable) return 'locked';
      if (plants.length > 1 || !isContentRefused(thrown)) throw thrown;
      // The plant may be stored: a constraint can be newer.
      refusal = thrown;
    }
    const others = plants.filter(({ id }) => !found.has(id));
    if (others.length > 0) await run(readStatement(table, others));

    return plants.map((plant) => {
      const { id } = plant;
      const row = found.get(id);
      if (row === undefined) {
        return refusal === undefined ? notKept(new Error(missingReason)) : refused(refusal);
      }
      // Compared here, because a nondeterministic collation can treat different texts as equal.
      const isSame = columnNames.every((name, at) => row[at] === (plant[name]?.toString() ?? null));
      return isSame ? ok() : err({ kind: 'id-taken', id });
    });
  };
};
