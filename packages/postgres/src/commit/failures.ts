import type { PlantRefused, StoreUnavailable } from '@plantstore/core';
import { databaseRefusal } from '@plantstore/core/errors';
import { type Err, err } from 'neverthrow';
import { describeThrown, routineOf, sqlStateOf } from '../open/errors.ts';

/** Returns what to do about an exception from a statement or a connection attempt. */
export function retryStrategyOf(thrown: unknown): RetryStrategy {
  const state = sqlStateOf(thrown);
  // Errors of the driver (reset, timeout, "Connection terminated") have no SQLSTATE.
  if (state === undefined)
    return thrown instanceof NoServer && thrown.isRefused ? 'fail' : 'reconnect';
  // All other codes depend on the values: constraints, and triggers, which can raise any code.
  const strategy = strategies.find(([pattern]) => pattern.test(state))?.[1] ?? 'split';
  if (isRowRefused(thrown) && !/^(40|55P03)/.test(state)) return 'split';
  // A function, such as that of a trigger, is the context of its error. Failures of the disk have a context, too.
  const hasContext = thrown instanceof Error && 'where' in thrown && thrown.where !== undefined;
  return strategy === 'fail' && hasContext && !state.startsWith('58') ? 'isolate' : strategy;
}

/**
 * What to do about a failed statement: run it again on the same connection, or on a new one, possibly to another server; split the
 * batch, as the server refuses a plant for its content, or as a function of the operator fails, perhaps for one plant; or fail.
 */
type RetryStrategy = 'repeat' | 'reconnect' | 'split' | 'isolate' | 'fail';

/** Thrown when no server of the URL can be used. */
export class NoServer extends Error {
  /** Whether every server refuses the login, so that a retry cannot succeed. */
  readonly isRefused: boolean;

  constructor({ message, cause }: Pick<Error, 'message' | 'cause'>, isRefused: boolean) {
    super(message, { cause });
    this.isRefused = isRefused;
  }
}

// postgresql.org/docs/current/errcodes-appendix.html
const strategies: readonly (readonly [RegExp, RetryStrategy])[] = [
  // Serialization failure (40001), deadlock (40P01), unknown completion (40003): the insert is idempotent.
  [/^(40001|40P01|40003)$/, 'repeat'],
  // Lock timeout, canceled statement, insufficient resources.
  [/^(55P03|57014|53...)$/, 'repeat'],
  // A former leader that is read-only; a transaction timeout; shutdown, crash or startup; connection exceptions.
  [/^(25006|25P0.|57P0.|08...)$/, 'reconnect'],
  // The statement, the role, the table, a sequence or the disk: every other plant would fail, too.
  [/^(2200H|(0A|25|28|3D|3F|42|55|58|F0|HV|XX)...)$/, 'fail'],
];

/** Whether a policy refused a row, or a trigger raised an exception: its SQLSTATE can be that of a missing privilege, or any other. */
function isRowRefused(thrown: unknown): boolean {
  return /^(ExecWithCheckOptions|exec_stmt_(raise|assert))$/.test(routineOf(thrown));
}

/** Creates the result of a create or a check that may succeed later. */
export function unavailable(reason: string, cause?: unknown): Err<never, StoreUnavailable> {
  return err({ kind: 'store-unavailable', reason, ...(cause !== undefined && { cause }) });
}

/** Creates the result for a plant that may not be stored. */
export function notKept(thrown: unknown): Err<never, StoreUnavailable> {
  return unavailable(`the database did not keep the plant: ${describeThrown(thrown)}`, thrown);
}

/** Creates the result for a plant that the database does not accept. */
export function refused(cause: unknown): Err<never, PlantRefused> {
  return err({ kind: 'plant-refused', ...databaseRefusal, cause });
}
