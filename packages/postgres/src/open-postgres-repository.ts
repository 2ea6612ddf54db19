import type { PlantRepository, StoreUnavailable } from '@plantstore/core';
import { type CommittedBatch, createGroupCommit } from '@plantstore/core/group-commit';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { createCheck } from './check.ts';
import {
  connectLeader,
  describeFailure,
  longestMs,
  type Servers,
  serversOf,
} from './connect-leader.ts';
import { type Address, readDatabaseUrl } from './database-url.ts';
import { createCommitBatch } from './commit-batch.ts';
import { createLane, type Lane } from './lane.ts';
import { createLockedPlants } from './locked-plants.ts';
import { connectError, type OpenPostgresError, statementError, tableError } from './open-error.ts';
import { prepareTable } from './plants-table.ts';
import type { Session } from './session.ts';

/** A plant repository on a database server. */
export type PostgresRepository = PlantRepository & {
  /**
   * Whether the database answers now, and takes writes: asked on a connection of its own, which the
   * first check opens. It writes nothing.
   */
  readonly check: () => ResultAsync<void, StoreUnavailable>;
  /** Number of creates without a result. One that waits for another program's lock may count twice. */
  readonly waiting: () => number;
  /**
   * Waits for the creates so far and ends the connections; creates that come later answer
   * `store-unavailable`. Closing again does nothing. A plant that was answered is durable whether
   * or not this is ever called.
   */
  readonly close: () => Promise<void>;
};

/** Where plants are kept, and how long to try. Only `url` is needed. */
export type PostgresOptions = {
  /** `postgres://user:password@host:5432/database`; several hosts are separated by commas. */
  readonly url: string;
  /** How long a create may take, retries included. Default is 10000 (10 seconds). */
  readonly deadlineMs?: number;
  /**
   * How long one server may take to log in, in milliseconds. Default: `connect_timeout` of the URL,
   * else 2000 (2 seconds).
   */
  readonly connectTimeoutMs?: number;
  /** How long a statement may take before its connection is given up. Default is 4000 (4 seconds). */
  readonly statementTimeoutMs?: number;
  /** How many creates may wait; one more is `store-unavailable` at once. Default is 10000. */
  readonly maxWaiting?: number;
  /** Called after each commit of a batch, for metrics. Default: nothing is called. */
  readonly onCommit?: (batch: CommittedBatch) => void;
};

type Timing = Required<Omit<PostgresOptions, 'url' | 'connectTimeoutMs' | 'onCommit'>> &
  Pick<PostgresOptions, 'onCommit'>;

const lanesInFlight = 2;
const maxBatchPlants = 1_000;
const maxBatchText = 4 * 1_024 * 1_024;

const repositoryOn = (
  servers: Servers,
  session: Session,
  table: string,
  timing: Timing,
): PostgresRepository => {
  const connect = async (last: Address | undefined): Promise<Session> => {
    const connected = await connectLeader(servers, last);
    if (connected.isOk()) return connected.value;
    throw new Error(connected.error.map(describeFailure).join('; '));
  };
  const statementTimeoutMs = Math.min(timing.statementTimeoutMs, timing.deadlineMs);
  const commitBatch = createCommitBatch(table);
  const shared = { table, commitBatch, statementTimeoutMs, connect };
  const { deadlineMs, maxWaiting, onCommit } = timing;
  const groupOn = (lanes: readonly Lane[], report?: typeof onCommit) =>
    createGroupCommit({
      lanes: lanes.map(({ commit }) => commit),
      deadlineMs,
      maxWaiting,
      maxBatchPlants,
      maxBatchText,
      ...(report !== undefined && { onCommit: report }),
      trouble: () => lanes.map(({ trouble }) => trouble()).find((one) => one !== undefined),
    });

  const laneApart = createLane({ ...shared, session: undefined });
  const apart = groupOn([laneApart]);
  const locked = createLockedPlants(apart);
  const lanes = Array.from({ length: lanesInFlight }, (_, index) =>
    createLane({
      ...shared,
      session: index === 0 ? session : undefined,
      createApart: locked.create,
    }),
  );
  const together = groupOn(lanes, onCommit);
  const checker = createCheck({ connect, statementTimeoutMs });
  let closing: Promise<void> | undefined;

  const close = async (): Promise<void> => {
    await together.close();
    await apart.close();
    await Promise.all([checker, laneApart, ...lanes].map(async (one) => one.close()));
  };

  return {
    create: (plant) =>
      closing === undefined && locked.has(plant.id)
        ? new ResultAsync(locked.create(plant))
        : together.create(plant),
    check: () => new ResultAsync(checker.check()),
    waiting: () => together.waiting() + apart.waiting(),
    close: async () => {
      closing ??= close();
      return closing;
    },
  };
};

const open = async (
  text: string,
  connectTimeoutMs: number | undefined,
  timing: Timing,
): Promise<Result<PostgresRepository, OpenPostgresError>> => {
  const read = readDatabaseUrl(text, process.env);
  if (read.isErr()) return err(read.error);
  const url = read.value;
  const servers = serversOf(url, connectTimeoutMs);
  const connected = await connectLeader(servers);
  if (connected.isErr()) return err(connectError(url, connected.error));
  const session = connected.value;
  try {
    const prepared = await prepareTable(session, timing.statementTimeoutMs);
    if (prepared.isOk()) return ok(repositoryOn(servers, session, prepared.value, timing));
    await session.close();
    return err(tableError(url, prepared.error));
  } catch (thrown) {
    session.destroy();
    return err(statementError(url, session.address, thrown));
  }
};

/**
 * Opens a plant repository on PostgreSQL, and makes its table where it is missing. A create answers
 * once the plant is durable, as far as the server's own replication goes. Any number of processes may
 * share one database. While the server is away creates are retried, then answered
 * `store-unavailable`; nothing has to be started again when it is back.
 *
 * @param options - the `url`, and how long to try
 * @returns the repository, or why the database cannot be used, with a `message` for the operator
 * that never has the password
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
export const openPostgresRepository = ({
  url,
  deadlineMs = 10_000,
  connectTimeoutMs,
  statementTimeoutMs = 4_000,
  maxWaiting = 10_000,
  onCommit,
}: PostgresOptions): ResultAsync<PostgresRepository, OpenPostgresError> =>
  new ResultAsync(
    open(url, connectTimeoutMs, {
      deadlineMs: Math.min(deadlineMs, longestMs),
      statementTimeoutMs: Math.min(statementTimeoutMs, longestMs),
      maxWaiting,
      ...(onCommit !== undefined && { onCommit }),
    }),
  );
