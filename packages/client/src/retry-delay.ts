import type { Settings } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { ignoreErrors, undefinedOnThrow } from './untrusted.ts';

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const transientStatuses = /^(?:408|429|50[234])$/;

/** Returns whether an error is transient, so that a retry may succeed. */
export const isTransient = (error: CreatePlantError): boolean =>
  error.kind === 'network' ||
  error.kind === 'timeout' ||
  ('status' in error && transientStatuses.test(`${error.status}`));

/** Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or 0 if it is absent or invalid. */
export const retryAfterMs = (header: unknown): number => {
  if (typeof header !== 'string') return 0;
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
  return (
    Math.min(maxRetryDelayMs, retryDelayMs * 2 ** Math.min(retried, 99)) * (isShare ? share : 0.5)
  );
};
