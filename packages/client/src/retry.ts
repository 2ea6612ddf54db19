import type { CreatePlantError } from './errors.ts';
import type { CallLimits } from './settings.ts';

/**
 * Returns how long a call waits before it retries after an error, in milliseconds, or `undefined`
 * if the error is final.
 */
export function retryWait(
  error: CreatePlantError,
  retried: number,
  limits: CallLimits,
  remainingMs: number,
): number | undefined {
  if (!isTransient(error)) return undefined;
  if (retried >= limits.retries) return undefined;
  const waitMs = (error.retryAfterMs ?? 0) + backoffMs(limits, retried);
  // A wait beyond the time limit of the call could only end in a timeout.
  if (waitMs >= remainingMs) return undefined;
  return waitMs;
}

/** Returns whether the same request may succeed later. */
function isTransient({ kind, status }: CreatePlantError): boolean {
  // There is no complete response. Creating is idempotent, so the request may be repeated.
  if (kind === 'network' || kind === 'timeout') return true;
  // Other errors have a status, too: that of an attempt before an abort, for example.
  if (kind !== 'refused' && kind !== 'unexpected-status') return false;
  return transientStatuses.includes(status);
}

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const transientStatuses = [408, 429, 502, 503, 504];

/** Returns the backoff before the next attempt, with full jitter, in milliseconds. */
function backoffMs(limits: CallLimits, retried: number): number {
  const { retryDelayMs, maxRetryDelayMs } = limits;
  // After a thousand retries, the power is Infinity, and its product with 0 is NaN.
  if (retryDelayMs === 0) return 0;
  return Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried) * Math.random();
}
