import { attempt } from './attempt.ts';
import {
  type Call,
  createCall,
  fail,
  failBy,
  isToken,
  type Outcome,
  readField,
  reportOf,
} from './call.ts';
import type { Settings } from './client-options.ts';
import type { TimedOut } from './create-plant-error.ts';
import { isFunction, notify, readMember } from './lenient.ts';
import type { NewPlant } from './plant.ts';
import { type PreparedRequest, prepareRequest, refuse } from './prepare-request.ts';
import { mergeHeaders } from './request-headers.ts';
import { backoffMs, isTransient, retryAfterMs } from './retry-delay.ts';
import { type Interruption, within } from './within.ts';

const never = (): Promise<never> => new Promise(() => {});

/** Sends a request until a response settles it, or a time limit or the caller ends the call. */
const send = async (settings: Settings, call: Call, request: PreparedRequest): Promise<Outcome> => {
  const { askToken } = settings;
  const { caller, headers, timeoutMs, attemptTimeoutMs } = request;
  const deadline = performance.now() + timeoutMs;
  const leftMs = (): number => deadline - performance.now();
  const ended = (by: Interruption, phase: TimedOut['phase'], ms = timeoutMs): Outcome => {
    if (by === 'aborted') return failBy(call, by, readMember(caller, 'reason'));
    const message = `${call.response ? 'incomplete' : 'no'} ${phase} within ${ms} ms`;
    return fail(call, { kind: by, phase, message });
  };

  const fields =
    headers.length > 0 ? await within(caller, leftMs(), () => mergeHeaders(headers)) : {};
  if (typeof fields === 'string') return ended(fields, 'request-headers');
  if (!fields) return refuse(call, 'headers-invalid');

  let token = askToken ? undefined : settings.token;
  for (let asked = 0, retried = 0; ;) {
    if (askToken && token === undefined) {
      const answer = await within(caller, leftMs(), (signal) => askToken(asked > 0, signal));
      if (typeof answer === 'string') return ended(answer, 'token');
      ({ token } = answer);
      asked += 1;
    }
    if (!isToken(token)) {
      const message = 'token must be an RFC 6750 b64token, or a function that returns one';
      return fail(call, { kind: 'token-failed', message });
    }
    if (askToken) call.tokens.push(token);

    const left = leftMs();
    const isLast = left <= attemptTimeoutMs;
    const answer = await attempt(call, request, fields, token, isLast ? left : attemptTimeoutMs);
    // A call that the caller or its time limit has ended stops here, whatever the status was.
    if (answer === 'aborted' || (answer === 'timeout' && isLast)) return ended(answer, 'response');
    const outcome = answer === 'timeout' ? ended(answer, 'response', attemptTimeoutMs) : answer;
    if (outcome.isOk()) return outcome;

    const { error } = outcome;
    if (call.response?.status === 401 && askToken && asked < 2) token = undefined;
    else {
      const waitMs = retryAfterMs(readField(call, 'retry-after')) + backoffMs(settings, retried);
      // A wait past the deadline could only end in a timeout.
      if (!isTransient(error) || retried >= request.retries || waitMs >= leftMs()) return outcome;
      retried += 1;
      call.response = undefined;
      notify(settings.onRetry, { attempts: call.attempts, waitMs, error });
      const waited = await within(caller, waitMs, never);
      if (waited === 'aborted') return ended(waited, 'response');
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
      ? refuse(call, request)
      : await send(settings, call, request);
  } catch (thrown) {
    // Such as a built-in that the runtime lacks.
    return failBy(call, 'network', thrown);
  } finally {
    const onSettled = readMember(options, 'onSettled');
    if (isFunction(onSettled)) notify(onSettled, reportOf(call));
  }
};
