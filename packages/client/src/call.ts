import { attempt } from './attempt.ts';
import type { CreatePlantOptions } from './options.ts';
import type { NewPlant } from './plant.ts';
import {
  fail,
  failWithCause,
  type Failure,
  type Outcome,
  reportOf,
  type TimedOut,
} from './errors.ts';
import { type Call, invalid, mergeHeaders, prepareCall, type Settings } from './request.ts';
import { retry } from './retry.ts';
import { withTimeout } from './timeout.ts';
import { ignoreErrors } from './untrusted.ts';

/** Creates a plant; never rejects. Without settings, the options of the client could not be read. */
export async function callService(
  settings: Settings | undefined,
  newPlant: NewPlant,
  options: CreatePlantOptions | undefined,
): Promise<Outcome> {
  const call = { attempts: 0, tokens: [] };
  try {
    return (
      prepareCall(call, settings as Settings, newPlant, options ?? {}) ??
      (await send(call as unknown as Call))
    );
  } catch (thrown) {
    // Only an API that is missing, or options that are no objects.
    return invalid('fetch-invalid', String(thrown));
  } finally {
    void ignoreErrors(() => options?.onSettled?.(reportOf(call)));
  }
}

/** Sends a request with its header fields, with a token, and with retries, until an outcome is final. */
const send = async (call: Call): Promise<Outcome> => {
  const { getToken, headers, limits, signal: caller, tokens } = call;

  /** Runs a phase until it ends, its time limit or that of the call expires, or the caller aborts the call. */
  const run = <T>(
    phase: TimedOut['phase'],
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = Infinity,
  ): Promise<T | Failure> => {
    const remainingMs = call.deadline - performance.now();
    const isLast = remainingMs <= limitMs;
    return withTimeout<T | Failure>(caller, isLast ? remainingMs : limitMs, work, (kind) => {
      if (isLast || kind === 'aborted') call.deadline = 0;
      if (kind === 'aborted') return failWithCause(call, kind, caller?.reason);
      const isIncomplete = phase === 'response' && call.response;
      const ms = isLast ? limits.timeoutMs : limitMs;
      const message = `${isIncomplete ? 'incomplete' : 'no'} ${phase} within ${ms} ms`;
      return fail(call, { kind, phase, message });
    });
  };
  const attemptOnce = () =>
    run('response', (signal) => attempt(call, signal), limits.attemptTimeoutMs);
  const attemptWithNewToken = async (): Promise<Outcome> => {
    const failed = await run('token', async (signal) => {
      const token = await getToken?.(tokens.at(-1), signal);
      if (!token)
        return fail(call, { kind: 'token-failed', message: 'token must be an RFC 6750 b64token' });
      tokens.push(token);
      return undefined;
    });
    return failed ?? attemptOnce();
  };

  const failed = headers[0] && (await run('request-headers', () => mergeHeaders(call)));
  return (
    failed ??
    retry(call, async () => {
      const outcome = await (tokens[0] ? attemptOnce() : attemptWithNewToken());
      const isRejected = getToken && call.response?.status === 401 && call.deadline;
      // A call has one new token at most, beyond the retries.
      return isRejected && !tokens[1] ? attemptWithNewToken() : outcome;
    })
  );
};
