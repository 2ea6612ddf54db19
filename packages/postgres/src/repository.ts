import type { PlantStore, StoreUnavailable } from '@plantstore/core';
import { type CommittedBatch, createGroupCommit } from '@plantstore/core/group-commit';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { createCommitBatch, findCreateFault } from './commit/commit-batch.ts';
import { unavailable } from './commit/failures.ts';
import { createLane, type Lane } from './commit/lane.ts';
import { createLockedPlants } from './commit/locked-plants.ts';
import { createSessions, type Sessions } from './commit/sessions.ts';
import { createConnect } from './open/connect.ts';
import { maxTimerMs } from './open/database-url.ts';
import { describeThrown, type OpenPostgresError, statementError } from './open/errors.ts';
import { type PlantsTable, prepareTable } from './open/table.ts';

/**
 * Opens a plant repository on PostgreSQL, and creates its table if it does not exist. A create
 * resolves once the plant is durable, on a standby too if the server replicates synchronously. Any
 * number of processes can share one database. While the server is unavailable, creates are retried
 * until their deadline, and then return `store-unavailable`. The repository reconnects by itself.
 *
 * @returns the repository, or the reason why the database cannot be used, with a `message` for the operator
 * that never contains the password
 * @example
 * ```ts
 * import { createPlant } from '@plantstore/core';
 * import { openPostgresRepository } from '@plantstore/postgres';
 *
 * const opened = await openPostgresRepository({ url: 'postgres://ada:secret@localhost/garden' });
 * if (opened.isErr()) throw new Error(opened.error.message);
 * const repository = opened.value;
 * await createPlant(repository, { id: 7, name: 'Monstera' });
 * await repository.close();
 * ```
 */
export function openPostgresRepository(
  options: PostgresOptions,
): ResultAsync<PostgresRepository, OpenPostgresError> {
  return new ResultAsync(open(options));
}

/** A plant repository on a PostgreSQL server. */
export interface PostgresRepository extends PlantStore {
  /** The table with its schema and database, for the operator. */
  readonly table: string;
  /** Warnings about the table, for the operator. */
  readonly warnings: readonly string[];
  /** Number of creates in flight. A create that waits for another program's lock may count twice. */
  readonly waiting: () => number;
  /** Waits for the creates in flight, and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Options of {@link openPostgresRepository}. */
export type PostgresOptions = {
  /** `postgres://user:password@host:5432/database`; several hosts are separated by commas. */
  readonly url: string;
  /** Maximum duration of a create including retries, in milliseconds. Default: 10000 (10 seconds). */
  readonly deadlineMs?: number;
  /**
   * Timeout of connecting to one server, and then of logging in, in milliseconds. Default:
   * `connect_timeout` of the URL, else 2000 (2 seconds), and 10000 for the first login.
   */
  readonly connectTimeoutMs?: number;
  /** Timeout of a statement, in milliseconds, at most `deadlineMs`. Default: 4000 (4 seconds). */
  readonly statementTimeoutMs?: number;
  /** Maximum number of creates in flight; one more is `store-unavailable`. Default: 10000. */
  readonly maxWaiting?: number;
  /** Called after each commit of a batch, for metrics. Default: none. */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

async function open({
  url: text,
  deadlineMs = 10_000,
  connectTimeoutMs,
  statementTimeoutMs = 4_000,
  maxWaiting = 10_000,
  onCommit = () => {},
}: PostgresOptions): Promise<Result<PostgresRepository, OpenPostgresError>> {
  const limits = { deadlineMs: Math.min(deadlineMs, maxTimerMs), maxWaiting, onCommit };
  const connect = createConnect({
    url: text,
    connectTimeoutMs,
    statementTimeoutMs: Math.min(statementTimeoutMs, limits.deadlineMs),
  });
  const connected = await connect();
  if (connected.isErr()) return err(connected.error.error);
  const { session, url } = connected.value;
  try {
    const prepared = await prepareTable(session, url, findCreateFault);
    if (prepared.isOk())
      return ok(repositoryOn(createSessions(session, connect), prepared.value, limits));
    await session.close();
    return err(prepared.error);
  } catch (thrown) {
    session.destroy();
    return err(statementError(url, session.address, thrown));
  }
}

/** Number of statements in flight that insert plants. */
export const lanesInFlight = 2;
const maxBatchPlants = 1_000;
const maxBatchText = 4 * 1_024 * 1_024;

function repositoryOn(
  { use, close: closeSessions }: Sessions,
  plantsTable: PlantsTable,
  options: Required<Pick<PostgresOptions, 'deadlineMs' | 'maxWaiting' | 'onCommit'>>,
): PostgresRepository {
  const groupOn = (lanes: readonly Lane[], report: typeof options.onCommit) =>
    createGroupCommit({
      ...options,
      lanes: lanes.map(({ commit }) => commit),
      maxBatchPlants,
      maxBatchText,
      onCommit: report,
      lastFailure: () => lanes.map((lane) => lane.lastFailure()).find((one) => one !== undefined),
    });
  const { table, shown, warnings } = plantsTable;
  const shared = { table, commitBatch: createCommitBatch(plantsTable), use };

  const lockedGroup = groupOn([createLane(shared)], () => {});
  const locked = createLockedPlants(lockedGroup);
  const lanes = Array.from({ length: lanesInFlight }, () =>
    createLane({ ...shared, createLocked: locked.create }),
  );
  const mainGroup = groupOn(lanes, options.onCommit);
  let checking: ReturnType<typeof check> | undefined;
  let closing: Promise<void> | undefined;

  const check = async (): Promise<Result<void, StoreUnavailable>> => {
    if (closing !== undefined) return unavailable('the database is closed');
    try {
      const fault = await use(async (session) => findCreateFault(session, plantsTable));
      return fault === undefined ? ok() : unavailable(fault.message, fault.cause);
    } catch (thrown) {
      return unavailable(`the database is unavailable: ${describeThrown(thrown)}`, thrown);
    }
  };

  return {
    table: shown,
    warnings,
    create: (plant) =>
      closing === undefined && locked.has(plant.id)
        ? new ResultAsync(locked.create(plant))
        : mainGroup.create(plant),
    check: () => {
      // Concurrent calls share one.
      checking ??= check().finally(() => (checking = undefined));
      return new ResultAsync(checking);
    },
    waiting: () => mainGroup.waiting() + lockedGroup.waiting(),
    close: async () => (closing ??= mainGroup.close().then(lockedGroup.close).then(closeSessions)),
  };
}
