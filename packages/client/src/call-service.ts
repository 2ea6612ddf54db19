import { attempt } from './attempt.ts';
import {
  type Call,
  createCall,
  fail,
  failWithCause,
  isToken,
  type Outcome,
  readField,
  reportOf,
} from './call.ts';
import type { Settings } from './client-options.ts';
import type { TimedOut } from './create-plant-error.ts';
import { isFunction, notify, readMember } from './untrusted.ts';
import type { NewPlant } from './plant.ts';
import { type PreparedRequest, prepareRequest, failInvalid } from './prepare-request.ts';
import { mergeHeaders } from './request-headers.ts';
import { backoffMs, isTransient, retryAfterMs } from './retry-delay.ts';
import { type Interruption, withTimeout } from './with-timeout.ts';

const never = (): Promise<never> => new Promise(() => {});

/** Sends a request, with retries, until a response settles it or a time limit or the caller ends the call. */
const send = async (settings: Settings, call: Call, request: PreparedRequest): Promise<Outcome> => {
  const { getToken } = settings;
  const { caller, headers, timeoutMs, attemptTimeoutMs } = request;
  const deadline = performance.now() + timeoutMs;
  const remainingMs = (): number => deadline - performance.now();
  const interrupted = (by: Interruption, phase: TimedOut['phase'], ms = timeoutMs): Outcome => {
    if (by === 'aborted') return failWithCause(call, by, readMember(caller, 'reason'));
    const message = `${call.response ? 'incomplete' : 'no'} ${phase} within ${ms} ms`;
    return fail(call, { kind: by, phase, message });
  };

  const fields =
    headers.length > 0 ? await withTimeout(caller, remainingMs(), () => mergeHeaders(headers)) : {};
  if (typeof fields === 'string') return interrupted(fields, 'request-headers');
  if (!fields) return failInvalid(call, 'headers-invalid');

  let token = getToken ? undefined : settings.token;
  for (let tokenRequests = 0, retried = 0; ;) {
    if (getToken && token === undefined) {
      const result = await withTimeout(caller, remainingMs(), (signal) =>
        getToken(tokenRequests > 0, signal),
      );
      if (typeof result === 'string') return interrupted(result, 'token');
      ({ token } = result);
      tokenRequests += 1;
    }
    if (!isToken(token)) {
      const message = 'token must be an RFC 6750 b64token, or a function that returns one';
      return fail(call, { kind: 'token-failed', message });
    }
    if (getToken) call.tokens.push(token);

    const callMs = remainingMs();
    const isLast = callMs <= attemptTimeoutMs;
    const result = await attempt(call, request, fields, token, isLast ? callMs : attemptTimeoutMs);
    // A call that was aborted or timed out ends here, for every status.
    if (result === 'aborted' || (result === 'timeout' && isLast))
      return interrupted(result, 'response');
    const outcome =
      result === 'timeout' ? interrupted(result, 'response', attemptTimeoutMs) : result;
    if (outcome.isOk()) return outcome;

    const { error } = outcome;
    if (call.response?.status === 401 && getToken && tokenRequests < 2) token = undefined;
    else {
      const waitMs = retryAfterMs(readField(call, 'retry-after')) + backoffMs(settings, retried);
      // A wait beyond the deadline could only end in a timeout.
      if (!isTransient(error) || retried >= request.retries || waitMs >= remainingMs())
        return outcome;
      retried += 1;
      call.response = undefined;
      notify(settings.onRetry, { attempts: call.attempts, waitMs, error });
      const interruption = await withTimeout(caller, waitMs, never);
      if (interruption === 'aborted') return interrupted(interruption, 'response');
    }
    call.response = undefined;
  }
};

/** Creates a plant; never rejects. */
export const callService = async (
  settings: Settings,
  newPlant: NewPlant,
  options: unknown,
): Promise<Outcome> => {
  const call = createCall(settings.token);
  try {
    const request = prepareRequest(settings, newPlant, options);
    return typeof request === 'string'
      ? failInvalid(call, request)
      : await send(settings, call, request);
  } catch (thrown) {
    // For example, the runtime lacks a built-in.
    return failWithCause(call, 'network', thrown);
  } finally {
    const onSettled = readMember(options, 'onSettled');
    if (isFunction(onSettled)) notify(onSettled, reportOf(call));
  }
};
