import type { Report } from './call.ts';
import type { Numbers } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const transientStatuses: readonly unknown[] = [408, 429, 502, 503, 504];

/** Returns whether the error of an attempt is transient, so that a retry may succeed. */
export const isTransient = ({ kind, status }: CreatePlantError & Partial<Report>): boolean =>
  kind === 'network' || kind === 'timeout' || transientStatuses.includes(status);

/** The three forms of an HTTP date (RFC 9110 §5.6.7), with spaces for the hyphens of RFC 850, and with a time zone. */
const httpDate = /^\w+(, \d+ \w+ \d+ [\d:]+| \w+ +\d+ [\d:]+ \d+) GMT$/;

/** Returns the time of an HTTP date, or `NaN`. */
const parseHttpDate = (text: string): number => {
  // Only asctime has no comma, and no time zone: Date.parse would read it as local time.
  const date = text.replace(/-/g, ' ') + (text.includes(',') ? '' : ' GMT');
  // Date.parse accepts more than HTTP dates: in some engines "-1" is a date in 2001.
  return httpDate.test(date) ? Date.parse(date) : Number.NaN;
};

/**
 * Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or 0 if it is absent or invalid. A
 * date is compared with the `Date` of the response, if it has one, because the clocks may differ.
 */
export const retryAfterMs = (retryAfter = '', date = ''): number =>
  /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Math.max(0, parseHttpDate(retryAfter) - (parseHttpDate(date) || Date.now())) || 0;

/** Returns the backoff before the next attempt, with full jitter, in milliseconds. */
export const backoffMs = ({ retryDelayMs, maxRetryDelayMs }: Numbers, retried: number): number =>
  // Without a delay, after a thousand retries, this multiplies 0 by Infinity.
  (Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried) || 0) * Math.random();
