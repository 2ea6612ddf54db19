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
      if (isLast) call.deadline = 0;
      return kind === 'aborted'
        ? fail(call, kind, 'the call was aborted', { cause: describeCause(caller?.reason, tokens) })
        : fail(call, kind, `${call.missing} within ${isLast ? timeoutMs : limitMs} ms`, { phase });
    });
  };
  const getNewToken = async (signal: AbortSignal): Promise<Failure | undefined> => {
    const issued = getToken ? await getToken(tokens.at(-1), signal) : token;
    return issued?.match(
      (value) => void tokens.push(value),
      (message) => fail(call, 'token-failed', message),
    );
  };
  const attemptOnce = async (needsToken: boolean): Promise<Outcome> =>
    (needsToken ? await run('token', getNewToken) : undefined) ??
    run('response', (signal) => attempt(call, signal), call.attemptTimeoutMs);

  const failed = call.headers[0] && (await run('request-headers', () => mergeHeaders(call)));
  return (
    failed ??
    retry(call, async () => {
      const outcome = await attemptOnce(!tokens[0]);
      const isRejected = getToken && call.report.status === 401 && call.deadline;
      // A call has one new token at most, beyond the retries.
      return isRejected && !tokens[1] ? attemptOnce(true) : outcome;
    })
  );
};
