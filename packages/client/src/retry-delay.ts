import type { Settings } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { quietly, safely } from './safely.ts';

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const passingStatuses: readonly unknown[] = [408, 429, 502, 503, 504];

/** Whether the same request may fare better in a moment. */
export const isPassing = (error: CreatePlantError): boolean =>
  error.kind === 'network' ||
  error.kind === 'timeout' ||
  passingStatuses.includes('status' in error && error.status);

/** A `Retry-After` (RFC 9110 §10.2.3) in milliseconds from now; 0 for none, and for what is none. */
export const retryAfterMs = (header: unknown): number => {
  if (typeof header !== 'string') return 0;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse takes much more than HTTP's dates: in some engines "-1" is a day in 2001.
  return /^\w+,.*GMT$/.test(header) ? Math.max(0, Date.parse(header) - Date.now()) || 0 : 0;
};

/** How long to wait before the next attempt: what the service asks for, and full jitter on top. */
export const retryDelayMs = (settings: Settings, retried: number, retryAfter: number): number => {
  const { random } = settings;
  const longest = Math.min(
    settings.maxRetryDelayMs,
    settings.retryDelayMs * 2 ** Math.min(retried, 99),
  );
  const given = safely((): unknown => (random as () => unknown)());
  // For one that rejects.
  void quietly(() => given);
  const share = typeof given === 'number' ? given : Number.NaN;
  // Whatever an injected source answers: a share of 0 to 1, and half where it is none.
  return retryAfter + longest * (share >= 0 && share <= 1 ? share : 0.5);
};
