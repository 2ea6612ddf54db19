import type { PlantRefused, StoreUnavailable } from '@plantstore/core';
import { databaseRefusal } from '@plantstore/core/errors';
import { type Err, err } from 'neverthrow';
import { describeThrown, sqlStateOf, textOf } from '../open/errors.ts';

/**
 * What a failed statement means: run it again on the same connection, or on a new one, maybe to
 * another server; the server refuses a plant for its content, a function of the operator has a
 * fault, maybe for one plant, or another session has locked an id; or every plant would fail.
 */
export type Failure = 'repeat' | 'reconnect' | 'plant' | 'function' | 'lock' | 'all';

/** Returns what an exception from a statement or a connection attempt means, by its SQLSTATE. */
export function failureOf(thrown: unknown): Failure {
  const state = sqlStateOf(thrown);
  // Errors of the driver: a reset, a timeout, "Connection terminated".
  if (state === undefined) return thrown instanceof FinalError ? 'all' : 'reconnect';
  // A serialization failure, a deadlock, an unknown completion: the insert is idempotent.
  if (/^(40001|40P01|40003)$/.test(state)) return 'repeat';
  // A row and a function are the context of an error.
  const hasContext = textOf(thrown, 'where') !== '';
  // Without one, the table is locked.
  if (state === '55P03') return hasContext ? 'lock' : 'repeat';
  // A policy, or an exception of a trigger, whose SQLSTATE can be any.
  if (/^(ExecWithCheckOptions|exec_stmt_(raise|assert))$/.test(textOf(thrown, 'routine')))
    return 'plant';
  // A canceled statement, insufficient resources.
  if (/^(57014|53...)$/.test(state)) return 'repeat';
  // A former leader that is read-only; a transaction timeout; shutdown, crash or startup.
  if (/^(25006|25P0.|57P0.|08...)$/.test(state)) return 'reconnect';
  // All other codes depend on the values: constraints, types, indexes.
  if (!ofAll.test(state)) return 'plant';
  // Failures of the disk have a context, too.
  return hasContext && !state.startsWith('58') ? 'function' : 'all';
}

/** Whether the statement may succeed when it is run again. */
export function isTransient(failure: Failure): failure is 'repeat' | 'reconnect' {
  return failure === 'repeat' || failure === 'reconnect';
}

// The statement, the role, the table, a sequence or the disk
// (postgresql.org/docs/current/errcodes-appendix.html).
const ofAll = /^(2200H|(0A|25|28|3D|3F|42|55|58|F0|HV|XX)...)$/;

/** Thrown when a retry cannot succeed: every server refuses the login, or the table has a fault. */
export class FinalError extends Error {}

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
