import { type Outcome, readField } from './errors.ts';
import type { Numbers, Call } from './request.ts';
import { withTimeout } from './timeout.ts';
import { ignoreErrors } from './untrusted.ts';

/** Runs attempts until one succeeds, has an error that is not transient, or leaves no retry or no time. */
export async function retry(call: Call, attempt: () => Promise<Outcome>): Promise<Outcome> {
  const { signal, limits, onRetry } = call;
  for (let retried = 0; ; retried += 1) {
    const outcome = await attempt();
    if (outcome.isOk()) return outcome;
    const { error } = outcome;
    const waitMs =
      parseRetryAfter(readField(call, 'retry-after'), readField(call, 'date')) +
      backoffMs(limits, retried);
    // A wait beyond the deadline could only end in a timeout.
    const isLate = performance.now() + waitMs >= call.deadline;
    if (
      isLate ||
      retried >= limits.retries ||
      (!/^(network|timeout)$/.test(error.kind) && !transientStatuses.includes(error.status))
    )
      return outcome;
    void ignoreErrors(() => onRetry?.({ attempts: call.attempts, waitMs, error }));
    // After an abort, the next attempt ends the call before it sends anything.
    await withTimeout<void>(signal, waitMs);
  }
}

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. */
const transientStatuses: readonly unknown[] = [408, 429, 502, 503, 504];

/** Returns the backoff before the next attempt, with full jitter, in milliseconds. */
export const backoffMs = ({ retryDelayMs, maxRetryDelayMs }: Numbers, retried: number): number => {
  // Without a delay, after a thousand retries, this multiplies 0 by Infinity.
  return (Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried) || 0) * Math.random();
};

/**
 * Returns the delay of a `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or 0 if it is invalid. A date is compared
 * with the `Date` of the response, if it has one, because the clocks may differ.
 */
const parseRetryAfter = (retryAfter = '', date = ''): number =>
  /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Math.max(0, parseHttpDate(retryAfter) - (parseHttpDate(date) || Date.now())) || 0;

/** The three forms of an HTTP date (RFC 9110 §5.6.7), with spaces for the hyphens of RFC 850, and with a time zone. */
const httpDate = /^\w+(, \d+ \w+ \d+ [\d:]+| \w+ +\d+ [\d:]+ \d+) GMT$/;

/** Returns the time of an HTTP date, or `NaN`. */
const parseHttpDate = (text: string): number => {
  // Only asctime has no comma, and no time zone: Date.parse would read it as local time.
  const date = text.replace(/-/g, ' ') + (text.includes(',') ? '' : ' GMT');
  // Date.parse accepts more than HTTP dates: in some engines "-1" is a date in 2001.
  return httpDate.test(date) ? Date.parse(date) : NaN;
};
