import { attempt } from './attempt.ts';
import { type Call, fail, failWithCause, type Outcome, readField, reportOf } from './call.ts';
import type { Settings } from './client-options.ts';
import type { TimedOut } from './create-plant-error.ts';
import { notify, readMember } from './untrusted.ts';
import type { NewPlant } from './plant.ts';
import { type PreparedRequest, prepareRequest, invalid } from './prepare-request.ts';
import { mergeHeaders } from './request-headers.ts';
import { backoffMs, isTransient, retryAfterMs } from './retry-delay.ts';
import { type Interruption, withTimeout } from './with-timeout.ts';

/** Sends a request, with retries, until a response settles it or a time limit or the caller ends the call. */
const send = async (settings: Settings, call: Call, request: PreparedRequest): Promise<Outcome> => {
  const { getToken } = settings;
  const { caller, headers } = request;
  const { timeoutMs, attemptTimeoutMs, retries } = request.limits;
  const deadline = performance.now() + timeoutMs;
  const remainingMs = (): number => deadline - performance.now();
  const interrupted = (by: Interruption, phase: TimedOut['phase'], ms = timeoutMs): Outcome => {
    if (by === 'aborted') return failWithCause(call, by, readMember(caller, 'reason'));
    const isIncomplete = phase === 'response' && call.response;
    const message = `${isIncomplete ? 'incomplete' : 'no'} ${phase} within ${ms} ms`;
    return fail(call, { kind: by, phase, message });
  };

  const fields =
    headers.length > 0 ? await withTimeout(caller, remainingMs(), () => mergeHeaders(headers)) : {};
  if (typeof fields === 'string') return interrupted(fields, 'request-headers');
  if (!fields) {
    const message = 'headers must be valid fields, or a function that returns them';
    return fail(call, invalid('headers-invalid', message));
  }

  let { token } = settings;
  let rejected: string | undefined;
  for (let retried = 0; ;) {
    if (getToken && !token) {
      const result = await withTimeout(caller, remainingMs(), (signal) =>
        getToken(rejected, signal),
      );
      if (typeof result === 'string') return interrupted(result, 'token');
      ({ token } = result);
      if (token) call.tokens.push(token);
    }
    if (!token) {
      const message = 'token must be an RFC 6750 b64token, or a function that returns one';
      return fail(call, { kind: 'token-failed', message });
    }

    const callMs = remainingMs();
    const isLast = callMs <= attemptTimeoutMs;
    const result = await attempt(call, request, fields, token, isLast ? callMs : attemptTimeoutMs);
    const outcome =
      typeof result === 'string'
        ? interrupted(result, 'response', isLast ? timeoutMs : attemptTimeoutMs)
        : result;
    // A call that was aborted or timed out ends here, for every status.
    if (outcome.isOk() || result === 'aborted' || (result === 'timeout' && isLast)) return outcome;

    const { error } = outcome;
    const isRejected = getToken && !rejected && call.response?.status === 401;
    const delayMs = retryAfterMs(readField(call, 'retry-after'), readField(call, 'date'));
    const waitMs = delayMs + backoffMs(request.limits, retried);
    // A wait beyond the deadline could only end in a timeout.
    const isFinal = !isTransient(error) || retried >= retries || waitMs >= remainingMs();
    if (isFinal && !isRejected) return outcome;
    if (isRejected) {
      rejected = token;
      token = undefined;
    } else {
      retried += 1;
      notify(settings.onRetry, () => ({ attempts: call.attempts, waitMs, error }));
      // After an abort, the next attempt ends the call before it sends anything.
      await withTimeout(caller, waitMs, () => new Promise(() => {}));
    }
  }
};

/** Creates a plant; never rejects. */
export const callService = async (
  settings: Settings,
  newPlant: NewPlant,
  options: unknown,
): Promise<Outcome> => {
  const call: Call = { attempts: 0, tokens: settings.token ? [settings.token] : [] };
  try {
    const request = prepareRequest(settings, newPlant, options);
    return 'kind' in request ? fail(call, request) : await send(settings, call, request);
  } finally {
    notify(readMember(options, 'onSettled'), () => reportOf(call));
  }
};
