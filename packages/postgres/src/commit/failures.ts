import type { PlantRefused, StoreUnavailable } from '@plantstore/core';
import { databaseRefusal } from '@plantstore/core/errors';
import { type Err, err } from 'neverthrow';
import { describeThrown, sqlStateOf } from '../open/errors.ts';

/** Whether a row security policy rejected a row. Its SQLSTATE is that of a missing privilege. */
const isRowSecurityViolation = (thrown: unknown): boolean =>
  thrown instanceof Error && 'routine' in thrown && thrown.routine === 'ExecWithCheckOptions';

/** What to do about a failed statement. */
export type RetryStrategy =
  /** Run it again on the same connection. */
  | 'repeat'
  /** Run it again on a new connection, possibly to another server. */
  | 'reconnect'
  /** Split the batch: one of its plants cannot be stored. */
  | 'split'
  /** Fail: a retry cannot succeed before an operator changes something. */
  | 'fail';

// postgresql.org/docs/current/errcodes-appendix.html
const strategies: readonly (readonly [RegExp, RetryStrategy])[] = [
  // Serialization failure (40001), deadlock (40P01), unknown completion (40003): the insert is idempotent.
  [/^(40001|40P01|40003)$/, 'repeat'],
  // Lock timeout, canceled statement, insufficient resources.
  [/^(55P03|57014|53...)$/, 'repeat'],
  // A former leader that is read-only; shutdown, crash or startup; connection exceptions.
  [/^(25006|57P0.|08...)$/, 'reconnect'],
  // The statement, the role, the table or the disk: every other plant would fail, too.
  [/^(0A|25|28|3D|3F|42|55|58|F0|HV|XX)...$/, 'fail'],
];

/** Returns what to do about an exception from a statement or a connection attempt. */
export const retryStrategyOf = (thrown: unknown): RetryStrategy => {
  const state = sqlStateOf(thrown);
  // Errors of the driver (reset, timeout, "Connection terminated") have no SQLSTATE.
  if (state === undefined) return 'reconnect';
  if (isRowSecurityViolation(thrown)) return 'split';
  // All other codes depend on the values: constraints, and triggers, which can raise any code.
  return strategies.find(([pattern]) => pattern.test(state))?.[1] ?? 'split';
};

/** Whether the server refused a statement for its values: data exceptions, constraints and program limits. */
export const isContentRefused = (thrown: unknown): boolean =>
  /^(22|23|54)...$/.test(sqlStateOf(thrown) ?? '');

/** Creates the result of a create or a check that may succeed later. */
export const unavailable = (reason: string, cause?: unknown): Err<never, StoreUnavailable> =>
  err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });

/** Creates the result for a plant that may not be stored. */
export const notKept = (thrown: unknown): Err<never, StoreUnavailable> =>
  unavailable(`the database did not keep the plant: ${describeThrown(thrown)}`, thrown);

/** Creates the result for a plant that the database does not accept. */
export const refused = (cause: unknown): Err<never, PlantRefused> =>
  err({ kind: 'plant-refused', ...databaseRefusal, cause });
