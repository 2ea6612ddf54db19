import type { PlantStore } from '@plantstore/core';
import { type CommittedBatch, createGroupCommit } from '@plantstore/core/group-commit';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { createChecker } from './commit/check.ts';
import { type Connect, connectLeader } from './open/connect.ts';
import { type Address, maxTimerMs, readDatabaseUrl } from './open/database-url.ts';
import { createCommitBatch } from './commit/commit-batch.ts';
import { createLane, type Lane } from './commit/lane.ts';
import { createLockedPlants } from './commit/locked-plants.ts';
import { type OpenPostgresError, statementError } from './open/errors.ts';
import { prepareTable } from './open/table.ts';
import type { Session } from './open/session.ts';

/** A plant repository on a PostgreSQL server. */
export interface PostgresRepository extends PlantStore {
  /**
   * Checks, without writing, that the database is available and accepts writes. Uses a separate connection,
   * which the first check opens.
   */
  readonly check: PlantStore['check'];
  /** Number of creates in flight. A create that waits for another program's lock may count twice. */
  readonly waiting: () => number;
  /**
   * Waits for the creates in flight and closes the connections. Later creates return `store-unavailable`.
   * Further calls have no effect. Acknowledged plants are durable even if this is never called.
   */
  readonly close: () => Promise<void>;
}

/** Options of {@link openPostgresRepository}. */
export type PostgresOptions = {
  /** `postgres://user:password@host:5432/database`; several hosts are separated by commas. */
  readonly url: string;
  /** Maximum duration of a create including retries, in milliseconds. Default: 10000 (10 seconds). */
  readonly deadlineMs?: number;
  /**
   * Timeout of connecting and logging in to one server, in milliseconds. Default: `connect_timeout` of the
   * URL, or 2000 (2 seconds).
   */
  readonly connectTimeoutMs?: number;
  /**
   * Timeout of a statement, after which its connection is closed, in milliseconds; at most `deadlineMs`.
   * Default: 4000 (4 seconds).
   */
  readonly statementTimeoutMs?: number;
  /** Maximum number of creates without a result; the next one is `store-unavailable` immediately. Default: 10000. */
  readonly maxWaiting?: number;
  /** Called after each commit of a batch, for metrics. Default: none. */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

type CreateOptions = Required<Pick<PostgresOptions, 'deadlineMs' | 'maxWaiting' | 'onCommit'>>;

/** Number of connections that insert plants. */
export const lanesInFlight = 2;
const maxBatchPlants = 1_000;
const maxBatchText = 4 * 1_024 * 1_024;

const repositoryOn = (
  session: Session,
  table: string,
  connect: Connect,
  { onCommit, ...limits }: CreateOptions,
): PostgresRepository => {
  const groupOn = (lanes: readonly Lane[], report: typeof onCommit) =>
    createGroupCommit({
      ...limits,
      lanes: lanes.map(({ commit }) => commit),
      maxBatchPlants,
      maxBatchText,
      onCommit: report,
      trouble: () => lanes.map(({ lastFailure }) => lastFailure()).find((one) => one !== undefined),
    });
  const shared = { table, commitBatch: createCommitBatch(table), connect };

  const lockedLane = createLane({ ...shared, session: undefined });
  const lockedGroup = groupOn([lockedLane], () => {});
  const locked = createLockedPlants(lockedGroup);
  const lanes = Array.from({ length: lanesInFlight }, (_, index) =>
    createLane({
      ...shared,
      session: index === 0 ? session : undefined,
      createLocked: locked.create,
    }),
  );
  const mainGroup = groupOn(lanes, onCommit);
  const checker = createChecker(connect, table);
  let closing: Promise<void> | undefined;

  const close = async (): Promise<void> => {
    await mainGroup.close();
    await lockedGroup.close();
    await Promise.all([checker, lockedLane, ...lanes].map(async (one) => one.close()));
  };

  return {
    create: (plant) =>
      closing === undefined && locked.has(plant.id)
        ? new ResultAsync(locked.create(plant))
        : mainGroup.create(plant),
    check: () => new ResultAsync(checker.check()),
    waiting: () => mainGroup.waiting() + lockedGroup.waiting(),
    close: async () => {
      closing ??= close();
      return closing;
    },
  };
};

const open = async ({
  url: text,
  deadlineMs = 10_000,
  connectTimeoutMs,
  statementTimeoutMs = 4_000,
  maxWaiting = 10_000,
  onCommit = () => {},
}: PostgresOptions): Promise<Result<PostgresRepository, OpenPostgresError>> => {
  const read = readDatabaseUrl(text, process.env);
  if (read.isErr()) return err(read.error);
  const createOptions = { deadlineMs: Math.min(deadlineMs, maxTimerMs), maxWaiting, onCommit };
  const url = {
    ...read.value,
    connectTimeoutMs: Math.min(connectTimeoutMs ?? read.value.connectTimeoutMs, maxTimerMs),
    statementTimeoutMs: Math.min(statementTimeoutMs, createOptions.deadlineMs),
  };
  const connected = await connectLeader(url);
  if (connected.isErr()) return err(connected.error);
  const session = connected.value;
  const connect = async (failed: Address | undefined): Promise<Session> => {
    const again = await connectLeader(url, failed);
    if (again.isOk()) return again.value;
    throw new Error(again.error.message);
  };
  try {
    const prepared = await prepareTable(session, url);
    if (prepared.isOk()) return ok(repositoryOn(session, prepared.value, connect, createOptions));
    await session.close();
    return err(prepared.error);
  } catch (thrown) {
    session.destroy();
    return err(statementError(url, session.address, thrown));
  }
};

/**
 * Opens a plant repository on PostgreSQL, and creates its table if it does not exist. A create resolves
 * once the plant is durable, on a standby too if the server replicates synchronously. Any number of processes
 * can share one database. While the server is unavailable, creates are retried until their deadline, and then
 * return `store-unavailable`. The repository reconnects by itself.
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
export const openPostgresRepository = (
  options: PostgresOptions,
): ResultAsync<PostgresRepository, OpenPostgresError> => new ResultAsync(open(options));
