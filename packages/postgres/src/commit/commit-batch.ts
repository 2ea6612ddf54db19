import type { NewPlant } from '@plantstore/core';
import type { Created } from '@plantstore/core/group-commit';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, type Row, textsOf } from '../open/columns.ts';
import { openError } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { insertStatement, readStatement } from '../open/statements.ts';
import { findTableFault, type PlantsTable } from '../open/table.ts';
import { type Failure, failureOf, FinalError, isTransient, notKept, refused } from './failures.ts';
import { createInsert } from './insert.ts';

/**
 * Creates the function that commits a batch on a session. The results are durable when its promise
 * resolves. Every statement commits by itself and can be repeated, so the call can be repeated
 * after any exception, which it throws.
 *
 * - A plant that is new is inserted. Of several with one id, the first that is stored counts.
 * - A repeated plant, whose id the table has, is compared with the stored row.
 * - A plant that the server refuses fails alone: the batch is inserted in halves, of halves.
 * - A plant whose id another session has locked has no result: the caller commits it again until
 *   its deadline.
 * - A fault of the table fails all. After 24 failures in a row of a function or a lock, the rest
 *   fails, or has no result.
 */
export function createCommitBatch(plantsTable: PlantsTable, statementTimeoutMs: number) {
  const { table, place } = plantsTable;
  // After the timeout of a statement, its connection is closed.
  const firstLockMs = Math.min(lockTimeoutMs, Math.ceil(statementTimeoutMs / 2));
  const runInsert = createInsert();
  return commitBatch;

  async function commitBatch(session: Session, plants: Plants): Promise<Results> {
    const batch = new Batch();
    let parts = partsOf(plants);
    let isFirst = true;
    let failuresInARow = 0;
    while (parts.length > 0) {
      const [wanted = [], ...others] = parts;
      // A plant is in the table if another one with its id was stored.
      const part = batch.missingOf(wanted);
      const inserted = await insert(session, part, isFirst ? firstLockMs : 1);
      if (inserted.isOk()) batch.add(inserted.value, part);
      const failed = inserted.isErr() ? inserted.error : undefined;
      // A refused plant is no sign that the others fail.
      if (failed?.failure !== 'plant')
        failuresInARow = failed === undefined ? 0 : failuresInARow + 1;
      if (isFirst && failed !== undefined) await throwTableFault(session, failed);
      // Also after a failure: a plant can be older than the constraint that refuses it.
      const mayBeStored = isFirst || failed === undefined;
      // Of all plants, because a row is read for the longest one with its id.
      if (mayBeStored && batch.missingOf(part).length > 0)
        batch.add(await session.query(readStatement(table, batch.missingOf(plants))));
      const outcome = { failure: failed?.failure, isFirst, failuresInARow };
      const next = nextParts(batch.missingOf(part), others, outcome);
      batch.settle(next.settled, failed);
      parts = next.parts;
      isFirst = false;
    }
    return batch.resultsOf(plants);
  }

  /** Inserts a part. Returns the failure if other plants may be inserted, and throws any other. */
  async function insert(session: Session, part: Plants, lockMs: number): Promise<Inserted> {
    if (part.length === 0) return ok([]);
    // All batches lock ids in one order.
    const sorted = part.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    try {
      return ok(await runInsert(session, insertStatement(table, sorted, lockMs)));
    } catch (cause) {
      const failure = failureOf(cause);
      if (failure === 'all' || isTransient(failure)) throw cause;
      return err({ failure, cause });
    }
  }

  /** What fails because of the table is no fault of a plant. */
  async function throwTableFault(session: Session, failed: Failed): Promise<void> {
    const fault = await findTableFault(session, plantsTable);
    if (fault !== undefined) throw new FinalError(openError(place, fault).message, failed);
  }
}

export type CommitBatch = ReturnType<typeof createCommitBatch>;
export type Plants = readonly NewPlant[];

/** Splits plants into parts that have each id once: first, the first plant with each id. */
function partsOf(plants: Plants): readonly Plants[] {
  const parts: NewPlant[][] = [];
  const counts = new Map<bigint, number>();
  for (const plant of plants) {
    const count = counts.get(plant.id) ?? 0;
    counts.set(plant.id, count + 1);
    (parts[count] ??= []).push(plant);
  }
  return parts;
}

/** The results of plants. One whose id another session has locked has none. */
export type Results = ReadonlyMap<NewPlant, Created>;

/**
 * Returns which parts of a batch are inserted next, and which plants are settled, after a part was
 * inserted of which `missing` are not in the table.
 */
function nextParts<Plant>(
  missing: readonly Plant[],
  others: readonly (readonly Plant[])[],
  { failure, isFirst, failuresInARow }: PartOutcome,
): { readonly parts: readonly (readonly Plant[])[]; readonly settled: readonly Plant[] } {
  const settle = { parts: others, settled: missing };
  if (missing.length === 0) return settle;
  // Another session may have deleted a plant between the insert and the read.
  if (failure === undefined) return isFirst ? { parts: [missing, ...others], settled: [] } : settle;
  // Refused plants cost two statements each; a fault for every plant, or many locks, only a few.
  if (failuresInARow >= maxFailuresInARow)
    return { parts: [], settled: [missing, ...others].flat() };
  if (missing.length === 1) return settle;
  const middle = Math.ceil(missing.length / 2);
  return { parts: [missing.slice(0, middle), missing.slice(middle), ...others], settled: [] };
}

/** How a part was inserted: because of what it failed, and whether it is the first of the batch. */
type PartOutcome = {
  readonly failure: PartFailure | undefined;
  readonly isFirst: boolean;
  /** Failures but refusals since the last part that was inserted, this one included. */
  readonly failuresInARow: number;
};

/** Of a plant, a function or a lock: the other plants may be inserted. */
type PartFailure = Extract<Failure, 'plant' | 'function' | 'lock'>;

/** The rows of an insert, or why it failed. */
type Inserted = Result<readonly Row[], Failed>;
type Failed = { readonly failure: PartFailure; readonly cause: unknown };

/** The last plant of 1,000 is alone after eleven failures. */
const maxFailuresInARow = 24;

/** What is known of the plants of a batch. */
class Batch {
  readonly #stored = new Map<bigint, Row>();
  readonly #inserted = new Set<NewPlant>();
  readonly #results = new Map<NewPlant, Created>();

  /** Returns the plants of a part whose ids are not known to be in the table. */
  missingOf(part: Plants): Plants {
    return part.filter(({ id }) => !this.#stored.has(id));
  }

  /** Adds rows of the table, which are of those plants that were inserted. */
  add(rows: readonly Row[], inserted: Plants = []): void {
    for (const row of rows) this.#stored.set(BigInt(row[0] ?? ''), row);
    for (const plant of inserted) if (this.#stored.has(plant.id)) this.#inserted.add(plant);
  }

  /** Settles plants that are not in the table, but for those whose ids are locked. */
  settle(plants: Plants, failed: Failed | undefined): void {
    if (failed?.failure === 'lock') return;
    const isRefused = failed === undefined || failed.failure === 'plant';
    const cause = failed === undefined ? new Error(missingReason) : failed.cause;
    const created = isRefused ? refused(cause) : notKept(cause);
    for (const plant of plants) this.#results.set(plant, created);
  }

  resultsOf(plants: Plants): Results {
    for (const plant of plants) {
      const row = this.#stored.get(plant.id);
      if (row !== undefined) this.#results.set(plant, this.#compare(plant, row));
    }
    return this.#results;
  }

  #compare(plant: NewPlant, row: Row): Created {
    // Not in SQL, because a nondeterministic collation can treat different texts as equal.
    const texts = textsOf(plant);
    const isSame = columnNames.every((name, at) => row[at] === (texts[name] ?? null));
    if (!isSame) return err({ kind: 'id-taken', id: plant.id });
    return this.#inserted.has(plant) ? ok() : ok('unchanged');
  }
}

/**
 * Maximum wait of a batch for a locked id, in milliseconds: other processes that create the same
 * plants lock ids for the time of a commit. Parts do not wait, because the rest does.
 */
export const lockTimeoutMs = 100;
const missingReason =
  'a trigger discarded it, or a policy hides the plant with its id from this role';
