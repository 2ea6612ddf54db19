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
   * Inserts plants, in parts if the server refuses one, and compares a plant whose id exists with the stored row. The
   * results are durable when the promise resolves. The inserts are idempotent and commit by themselves, so the call can
   * be retried after any error. Of several plants with one id, the first is inserted. Returns `locked` when an open
   * transaction of another session has inserted or deleted an id.
   */
  return async (session: Session, plants: readonly NewPlant[], lockMs: number) => {
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

    const inserted = new Set<NewPlant | undefined>();
    const failures = new Map<NewPlant, Created>();
    const isMissing = ({ id }: NewPlant) => !found.has(id);
    const parts = [plants];
    let failsForAll: boolean | undefined;
    let others: Created = refused(new Error(missingReason));
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const isWhole = part === plants;
      const firsts = new Map<bigint, NewPlant>();
      for (const plant of part.toReversed()) if (isMissing(plant)) firsts.set(plant.id, plant);
      let failure: Created | undefined;
      try {
        // Sorted, because batches that acquire locks in different orders can deadlock.
        await insert([...firsts.values()].toSorted(byId));
        failsForAll = false;
      } catch (thrown) {
        if (sqlStateOf(thrown) === lockNotAvailable) return 'locked';
        const strategy = retryStrategyOf(thrown);
        const isOfPlant = strategy === 'split' || strategy === 'isolate';
        if (!isOfPlant && sqlStateOf(thrown) !== insufficientPrivilege) throw thrown;
        const fault = isWhole ? await findTableFault(session, plantsTable) : undefined;
        if (!isOfPlant && fault === undefined) throw thrown;
        if (fault !== undefined || (strategy === 'isolate' && failsForAll === true)) {
          others = notKept(
            fault === undefined ? thrown : new Error(fault.message, { cause: thrown }),
          );
          break;
        }
        // A trigger with a fault, unless it succeeds for another plant before the next failure.
        if (part.length === 1 && strategy === 'isolate') failsForAll ??= true;
        failure = strategy === 'split' ? refused(thrown) : notKept(thrown);
      }
      for (const id of found.keys()) inserted.add(firsts.get(id));
      // Also after a failure, as a constraint can be newer than a plant. The parts were read with the whole.
      const isRead = (isWhole || failure === undefined) && part.some(isMissing);
      if (isRead) await run(readStatement(table, part.filter(isMissing)));
      const missing = part.filter(isMissing);
      // Without a failure again: another session may delete a plant between the insert and the read.
      const size = failure === undefined ? missing.length : Math.ceil(missing.length / maxParts);
      const isLast = failure === undefined ? !isWhole : part.length === 1;
      if (!isLast)
        for (let end = missing.length; end > 0; end -= size)
          parts.push(missing.slice(Math.max(end - size, 0), end));
      else if (failure !== undefined) for (const plant of missing) failures.set(plant, failure);
    }

    return plants.map((plant): Created => {
      const { id } = plant;
      const row = found.get(id);
      if (row === undefined) return failures.get(plant) ?? others;
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
  try {
    for (const statementOf of [insertStatement, readStatement]) {
      const statement = statementOf(plantsTable.table, [{ id: 0n, name: '' }], 0);
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
const maxParts = 8;
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
