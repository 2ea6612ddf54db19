import { hash } from 'node:crypto';
import type { NewPlant } from '@plantstore/core';
import type { Created } from '@plantstore/core/group-commit';
import { err, ok } from 'neverthrow';
import { columnNames, type Row } from '../open/columns.ts';
import { describeThrown, sqlStateOf } from '../open/errors.ts';
import type { Query, Session } from '../open/session.ts';
import { findTableFault, type PlantsTable } from '../open/table.ts';
import { notKept, refused, retryStrategyOf } from './failures.ts';
import { insertStatement, readStatement } from './statements.ts';

/**
 * Creates the function that commits the batches of a repository. It uses a prepared insert on each connection,
 * until one may have failed because it was prepared. After that, it uses unprepared inserts only.
 */
export function createCommitBatch(plantsTable: PlantsTable) {
  const { table } = plantsTable;
  let isPrepared = true;

  /**
   * Inserts plants, and compares a plant whose id exists with the stored row. The results are durable when the
   * promise resolves. The insert is idempotent and commits by itself, so the call can be retried after any error.
   * Of several plants with one id, the first is inserted. Returns `locked` when an open transaction of another session has
   * inserted or deleted an id; no plant was inserted then. Throws if the server refuses one of several plants for its content.
   */
  return async (
    session: Session,
    plants: readonly NewPlant[],
    lockMs: number,
  ): Promise<readonly Created[] | 'locked'> => {
    const found = new Map<bigint, Row>();
    const run = async (query: Query) => {
      for (const row of await session.query(query)) found.set(BigInt(row[0] ?? ''), row);
    };
    const insert = async (sorted: readonly NewPlant[]) => {
      const statement = insertStatement(table, sorted, lockMs);
      if (!isPrepared) return run(statement);
      try {
        return await run({ ...statement, name: nameOf(statement.text) });
      } catch (thrown) {
        if (!mayBeCausedByPreparation(thrown)) throw thrown;
        isPrepared = false;
        return run(statement);
      }
    };

    let refusal: unknown;
    let missing = plants;
    const inserted = new Set<NewPlant | undefined>();
    // Twice: another session may delete a plant between the insert and the read.
    for (let round = 1; round <= 2 && refusal === undefined && missing.length > 0; round += 1) {
      const firsts = new Map<bigint, NewPlant>();
      for (const plant of missing) if (!firsts.has(plant.id)) firsts.set(plant.id, plant);
      try {
        // Sorted, because batches that acquire locks in different orders can deadlock.
        await insert([...firsts.values()].toSorted(byId));
      } catch (thrown) {
        if (sqlStateOf(thrown) === lockNotAvailable) return 'locked';
        const isSplit = retryStrategyOf(thrown) === 'split';
        if (!isSplit && sqlStateOf(thrown) !== insufficientPrivilege) throw thrown;
        const fault = await findTableFault(session, plantsTable);
        if (fault !== undefined)
          return plants.map(() => notKept(new Error(fault.message, { cause: thrown })));
        if (plants.length > 1 || !isSplit) throw thrown;
        // The plant may be stored: a constraint can be newer.
        refusal = thrown;
      }
      for (const id of found.keys()) inserted.add(firsts.get(id));
      missing = missing.filter(({ id }) => !found.has(id));
      if (missing.length > 0) await run(readStatement(table, missing));
      missing = missing.filter(({ id }) => !found.has(id));
    }

    return plants.map((plant) => {
      const { id } = plant;
      const row = found.get(id);
      if (row === undefined) return refused(refusal ?? new Error(missingReason));
      // Compared here, because a nondeterministic collation can treat different texts as equal.
      const isSame = columnNames.every((name, at) => row[at] === (plant[name]?.toString() ?? null));
      if (!isSame) return err({ kind: 'id-taken', id });
      return inserted.has(plant) ? ok() : ok('unchanged');
    });
  };
}

export type CommitBatch = ReturnType<typeof createCommitBatch>;

/**
 * Returns why creates would fail. Plans the statements of a create with EXPLAIN, which finds faults that the catalog does
 * not show. Throws the exceptions of the driver, which can be a reason, too.
 */
export async function findCreateFault(session: Session, plantsTable: PlantsTable) {
  const fault = await findTableFault(session, plantsTable);
  if (fault !== undefined) return fault;
  const plants = [{ id: 0n, name: '' }];
  try {
    for (const statementOf of [insertStatement, readStatement]) {
      const statement = statementOf(plantsTable.table, plants, 0);
      await session.query({ ...statement, text: `EXPLAIN ${statement.text}` });
    }
    return undefined;
  } catch (cause) {
    if (!unsupportedTableCodes.includes(sqlStateOf(cause) ?? '')) throw cause;
    return { kind: 'table-foreign', message: describeThrown(cause), cause } as const;
  }
}

// A generated column; a rule on INSERT.
const unsupportedTableCodes = ['428C9', '0A000'];
const lockNotAvailable = '55P03';
const insufficientPrivilege = '42501';
const missingReason =
  'a trigger discarded it, or a policy hides the plant with its id from this role';

function byId(one: NewPlant, other: NewPlant): number {
  return one.id < other.id ? -1 : 1;
}

/**
 * Whether an insert may have failed only because it is prepared. A pooler in transaction mode distributes the
 * statements of a client over several server connections, on which the prepared statement may not exist (26000)
 * or already exist (42P05). Other poolers reject it with 08P01 or their own code. 0A000: a column type changed.
 */
function mayBeCausedByPreparation(thrown: unknown): boolean {
  return /^(26000|08P01)$/.test(sqlStateOf(thrown) ?? '') || retryStrategyOf(thrown) === 'fail';
}

// Derived from the text, because pooled connections can have a statement for another table.
function nameOf(text: string): string {
  return `plantstore_${hash('sha256', text).slice(0, 32)}`;
}
