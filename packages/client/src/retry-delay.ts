import type { Settings } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { ignoreErrors, orUndefined } from './lenient.ts';

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const transientStatuses = /^(?:408|429|50[234])$/;

/** Whether the same request may succeed a moment later. */
export const isTransient = (error: CreatePlantError): boolean =>
  error.kind === 'network' ||
  error.kind === 'timeout' ||
  ('status' in error && transientStatuses.test(`${error.status}`));

/** Returns a `Retry-After` (RFC 9110 §10.2.3) in milliseconds from now; 0 for none or an invalid one. */
export const retryAfterMs = (header: unknown): number => {
  if (typeof header !== 'string') return 0;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse accepts more than HTTP's dates: in some engines "-1" is a day in 2001.
  return /^\w+,.*GMT$/.test(header) ? Math.max(0, Date.parse(header) - Date.now()) || 0 : 0;
};

/** Returns the full jitter before the next attempt, in milliseconds. */
export const backoffMs = (
  { random, retryDelayMs, maxRetryDelayMs }: Settings,
  retried: number,
): number => {
  const share = orUndefined(random as () => unknown);
  // An injected source may be async, and reject.
  void ignoreErrors(() => share);
  const isShare = typeof share === 'number' && share >= 0 && share <= 1;
  return (
    Math.min(maxRetryDelayMs, retryDelayMs * 2 ** Math.min(retried, 99)) * (isShare ? share : 0.5)
  );
};
