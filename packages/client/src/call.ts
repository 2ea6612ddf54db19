import { attempt } from './attempt.ts';
import type { CreatePlantOptions } from './options.ts';
import type { NewPlant } from './plant.ts';
import {
  describeCause,
  fail,
  type Failure,
  invalid,
  omitUndefined,
  type Outcome,
  type Report,
  type TimedOut,
} from './errors.ts';
import { type Call, mergeHeaders, prepareCall, type Settings } from './request.ts';
import { retry } from './retry.ts';
import { withTimeout } from './timeout.ts';
import { ignoreErrors } from './untrusted.ts';

/** Creates a plant; never rejects. Without settings, the options of the client could not be read. */
export async function callService(
  settings: Settings | undefined,
  newPlant: NewPlant,
  options: CreatePlantOptions = {},
): Promise<Outcome> {
  const call = { report: { attempts: 0 }, tokens: [] } as unknown as Call;
  try {
    return prepareCall(call, settings as Settings, newPlant, options) ?? (await send(call));
  } catch (thrown) {
    // Only an API that is missing, or options that are no objects.
    return invalid(call, 'fetch-invalid', String(thrown));
  } finally {
    void ignoreErrors(() => options.onSettled?.(omitUndefined(call.report) as Report));
  }
}

/** Sends a request with its header fields, with a token, and with retries, until an outcome is final. */
const send = async (call: Call): Promise<Outcome> => {
  const { getToken, signal: caller, timeoutMs, token, tokens } = call;

  /** Runs a phase until it ends, its time limit or that of the call expires, or the caller aborts the call. */
  const run = <T>(
    phase: TimedOut['phase'],
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = timeoutMs,
  ): Promise<T | Failure> => {
    call.missing = `no ${phase}`;
    const remainingMs = call.deadline - performance.now();
    const isLast = remainingMs <= limitMs;
    return withTimeout<T | Failure>(caller, isLast ? remainingMs : limitMs, work, (kind) => {
      if (isLast || kind === 'aborted') call.deadline = 0;
      if (kind === 'aborted')
        return fail(call, kind, 'the call was aborted', {
          cause: describeCause(caller?.reason, tokens),
        });
      const message = `${call.missing} within ${isLast ? timeoutMs : limitMs} ms`;
      return fail(call, kind, message, { phase });
    });
  };
  const attemptOnce = () =>
    run('response', (signal) => attempt(call, signal), call.attemptTimeoutMs);
  const attemptWithNewToken = async (): Promise<Outcome> => {
    const failed = await run('token', async (signal) => {
      const issued = getToken ? await getToken(tokens.at(-1), signal) : token;
      if (!issued) return undefined;
      if (issued.isErr()) return fail(call, 'token-failed', issued.error);
      tokens.push(issued.value);
      return undefined;
    });
    return failed ?? attemptOnce();
  };

  const failed = call.headers[0] && (await run('request-headers', () => mergeHeaders(call)));
  return (
    failed ??
    retry(call, async () => {
      const outcome = await (tokens[0] ? attemptOnce() : attemptWithNewToken());
      const isRejected = getToken && call.report.status === 401 && call.deadline;
      // A call has one new token at most, beyond the retries.
      return isRejected && !tokens[1] ? attemptWithNewToken() : outcome;
    })
  );
};
