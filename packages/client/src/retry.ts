import type { Outcome } from './errors.ts';
import type { Call, Numbers } from './request.ts';
import { withTimeout } from './timeout.ts';
import { ignoreErrors } from './untrusted.ts';

/** Runs attempts until one succeeds, has an error that is not transient, or leaves no retry or no time. */
export async function retry(call: Call, attempt: () => Promise<Outcome>): Promise<Outcome> {
  for (let retried = 0; ; retried += 1) {
    const outcome = await attempt();
    if (outcome.isOk()) return outcome;
    const { error } = outcome;
    const { attempts, retryAfterMs = 0 } = error;
    const waitMs = retryAfterMs + backoffMs(call, retried);
    // A wait beyond the deadline could only end in a timeout.
    const isLate = performance.now() + waitMs >= call.deadline;
    if (isLate || retried >= call.retries || !transient.test(error.kind + error.status))
      return outcome;
    void ignoreErrors(() => call.onRetry?.({ attempts, waitMs, error }));
    // After an abort, the next attempt ends the call before it sends anything.
    await withTimeout<void>(call.signal, waitMs);
  }
}

/** Request timeout, too many requests, bad gateway, service unavailable, gateway timeout. After an abort, none is. */
const transient = /network|timeout|s\D+(408|429|50[234])$/;

/** Returns the backoff before the next attempt, with full jitter, in milliseconds. */
export const backoffMs = ({ retryDelayMs, maxRetryDelayMs }: Numbers, retried: number): number => {
  // `postgres` has its own: the only package that both import is core, which neither waits nor retries.
  // Without a delay, after a thousand retries, this multiplies 0 by Infinity.
  return (Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried) || 0) * Math.random();
};
