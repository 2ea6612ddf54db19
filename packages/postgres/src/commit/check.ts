import type { StoreUnavailable } from '@plantstore/core';
import { ok, type Result } from 'neverthrow';
import { columnNames } from '../open/columns.ts';
import type { Connect } from '../open/connect.ts';
import { isDurable, notDurable } from '../open/table.ts';
import { describeThrown } from '../open/errors.ts';
import { retryStrategyOf, unavailable } from './failures.ts';
import type { Session } from '../open/session.ts';

/** Runs the checks of a repository: whether its database is available and accepts writes. */
export type Checker = {
  /** Runs a check. Concurrent calls share one. */
  readonly check: () => Promise<Result<void, StoreUnavailable>>;
  readonly close: () => Promise<void>;
};

/** Reads the table, and detects what has changed since it was opened: a read-only server, a table that loses plants or has lost a column. */
const checkStatement = (table: string) => ({
  text: `SELECT current_setting('transaction_read_only'),
    (SELECT ${isDurable} FROM pg_class t WHERE t.oid = to_regclass($1)), count(*)
    FROM (SELECT ${columnNames.join()} FROM ${table} LIMIT 1) AS found`,
  values: [table],
});

/** Creates a checker with a separate connection, so that it does not wait for queued plants. */
export const createChecker = (connect: Connect, table: string): Checker => {
  let session: Session | undefined;
  let running: ReturnType<Checker['check']> | undefined;
  let isClosed = false;

  const runCheck = async (): Promise<Result<void, StoreUnavailable>> => {
    try {
      if (session?.isUsable() !== true) session = await connect(session?.address);
      const [row] = await session.query(checkStatement(table));
      if (row?.[1] !== 't') return unavailable(`the table ${table} is ${notDurable}`);
      if (row[0] === 'off') return ok();
      session.destroy();
      return unavailable('the database has become read-only');
    } catch (thrown) {
      if (retryStrategyOf(thrown) === 'reconnect') session?.destroy();
      return unavailable(`the database is unavailable: ${describeThrown(thrown)}`, thrown);
    }
  };

  return {
    check: async () => {
      if (isClosed) return unavailable('the database is closed');
      running ??= runCheck().finally(() => {
        running = undefined;
      });
      return running;
    },
    close: async () => {
      isClosed = true;
      await running;
      await session?.close();
    },
  };
};
