import type { Settings } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { ignoreErrors, undefinedOnThrow } from './untrusted.ts';

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const transientStatuses: readonly unknown[] = [408, 429, 502, 503, 504];

/** Returns whether an error is transient, so that a retry may succeed. */
export const isTransient = (error: CreatePlantError): boolean =>
  error.kind === 'network' ||
  error.kind === 'timeout' ||
  ('status' in error && transientStatuses.includes(error.status));

/** Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or 0 if it is absent or invalid. */
export const retryAfterMs = (header = ''): number => {
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse accepts more than HTTP dates: in some engines "-1" is a date in 2001.
  return /^\w+,.*GMT$/.test(header) ? Math.max(0, Date.parse(header) - Date.now()) || 0 : 0;
};

/** Returns the backoff before the next attempt, with full jitter, in milliseconds. */
export const backoffMs = (
  { random, retryDelayMs, maxRetryDelayMs }: Settings,
  retried: number,
): number => {
  const share = undefinedOnThrow(random as () => unknown);
  // An injected function may be async, and its promise may reject.
  void ignoreErrors(() => share);
  const isShare = typeof share === 'number' && share >= 0 && share <= 1;
  // Without a delay, after a thousand retries, this multiplies 0 by Infinity.
  const longest = Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried) || 0;
  return longest * (isShare ? share : 0.5);
};
