import type { PlantStore, StoreUnavailable } from '@plantstore/core';
import { type Commit, type CommittedBatch, createGroupCommit } from '@plantstore/core/group-commit';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { createCommitBatch } from './commit/commit-batch.ts';
import { Committer } from './commit/committer.ts';
import { unavailable } from './commit/failures.ts';
import { Sessions } from './commit/sessions.ts';
import { Servers } from './open/connect.ts';
import { describeThrown, faultOf, openError, type OpenPostgresError } from './open/errors.ts';
import { readStatement } from './open/statements.ts';
import { findCreateFault, type PlantsTable, prepareTable } from './open/table.ts';

/**
 * Opens a plant repository on PostgreSQL, and creates its table if it does not exist. A create
 * resolves once the plant is durable, on a standby too if the server replicates synchronously. Any
 * number of processes can share one database. While the server is unavailable, creates are retried
 * until their deadline, and then return `store-unavailable`. The repository reconnects by itself.
 *
 * @returns the repository, or the reason why the database cannot be used, with a `message` for the
 * operator that never contains the password
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
  /** Waits for the creates in flight, and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Options of {@link openPostgresRepository}. */
export type PostgresOptions = {
  /** `postgres://user:password@host:5432/database`; several hosts are separated by commas. */
  readonly url: string;
  /**
   * Maximum duration of a create with retries, in milliseconds, at most 2,147,483,647, or
   * `Infinity`. Default: 10000 (10 seconds).
   */
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
  url,
  deadlineMs = 10_000,
  connectTimeoutMs,
  statementTimeoutMs = 4_000,
  maxWaiting = 10_000,
  onCommit = () => {},
}: PostgresOptions): Promise<Result<PostgresRepository, OpenPostgresError>> {
  const statementMs = Math.min(statementTimeoutMs, deadlineMs);
  const limits = { deadlineMs, statementTimeoutMs: statementMs, maxWaiting, onCommit };
  const servers = new Servers({ url, connectTimeoutMs, statementTimeoutMs: statementMs });
  const connected = await servers.connect();
  if (connected.isErr()) return err(connected.error.error);
  const { session, url: place } = connected.value;
  try {
    const prepared = await prepareTable(session, place);
    if (prepared.isOk())
      return ok(repositoryOn(new Sessions(session, servers), prepared.value, limits));
    await session.close();
    return err(openError(place, prepared.error));
  } catch (thrown) {
    session.abandon()?.();
    return err(openError(place, faultOf(session.server, thrown)));
  }
}

function repositoryOn(
  sessions: Sessions,
  plantsTable: PlantsTable,
  limits: Required<Omit<PostgresOptions, 'url' | 'connectTimeoutMs'>>,
): PostgresRepository {
  const commitBatch = createCommitBatch(plantsTable, limits.statementTimeoutMs);
  const committer = new Committer(sessions, commitBatch);
  const commit: Commit = async (plants, deadline) => committer.commit(plants, deadline);
  const group = createGroupCommit({
    ...limits,
    // Two statements that insert plants are in flight.
    lanes: [commit, commit],
    maxBatchPlants: 1_000,
    maxBatchText: 4 * 2 ** 20,
    lastFailure: () => committer.lastFailure(),
  });
  let checking: Promise<Result<void, StoreUnavailable>> | undefined;
  let closing: Promise<void> | undefined;

  return {
    table: plantsTable.shown,
    warnings: plantsTable.warnings,
    create: group.create,
    // Concurrent calls share one.
    check: () => new ResultAsync((checking ??= check().finally(() => (checking = undefined)))),
    waiting: group.waiting,
    close: async () => (closing ??= group.close().then(async () => sessions.close())),
  };

  async function check(): Promise<Result<void, StoreUnavailable>> {
    if (closing !== undefined) return unavailable('the database is closed');
    try {
      const fault = await sessions.use(async (session) => {
        const found = await findCreateFault(session, plantsTable);
        // Commits, so that a standby that creates wait for must respond, too.
        if (found === undefined) await session.query(readStatement(plantsTable.table, []));
        return found;
      });
      if (fault === undefined) return ok();
      return unavailable(openError(plantsTable.place, fault).message, fault);
    } catch (thrown) {
      return unavailable(`the database is unavailable: ${describeThrown(thrown)}`, thrown);
    }
  }
}
