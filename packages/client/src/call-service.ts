import { isBearerToken } from '@plantstore/core/wire';
import { err } from 'neverthrow';
import { attempt, brokenBy, type Outcome, type Progress } from './attempt.ts';
import type { Settings } from './client-options.ts';
import type { PlantAsGiven } from './plant-body.ts';
import { prepareRequest } from './prepare-request.ts';
import { redactorOf } from './redactor.ts';
import { isPassing, retryAfterMs, retryDelayMs } from './retry-delay.ts';
import { isFunction, quietly, readMember } from './safely.ts';
import { type Interruption, within } from './within.ts';

/** Calls a hook, where there is one; its failure breaks nothing. */
const tell = (hook: unknown, event: object): void => {
  // Asked first: to throw and catch would cost a tenth of a call.
  if (isFunction(hook)) void quietly(() => hook(event));
};

const never = (): Promise<never> => new Promise(() => {});

/** Creates a plant: sends it until an answer settles it, or a clock or the caller ends the call; never rejects. */
export const callService = async (
  settings: Settings,
  newPlant: PlantAsGiven,
  options: unknown,
): Promise<Outcome> => {
  const { tokens, retries, timeoutMs, attemptTimeoutMs } = settings;
  const { ask } = tokens;
  const sent = [...tokens.known];
  const redact = redactorOf(sent);
  let progress: Progress = { told: { attempts: 0 } };
  try {
    const request = prepareRequest(settings, newPlant, options);
    if (typeof request === 'string')
      return err({
        kind: 'request-invalid',
        reason: request,
        message: `nothing was sent: ${request.replaceAll('-', ' ')}`,
        attempts: 0,
      });
    const { caller } = request;
    const ended = (by: Interruption, ms = timeoutMs): Outcome =>
      by === 'timeout'
        ? err({ kind: by, message: `no whole answer within ${ms} ms`, ...progress.told })
        : brokenBy(readMember(caller, 'reason'), redact, progress, by);
    const deadline = performance.now() + timeoutMs;
    let [token]: readonly unknown[] = sent;
    let asked = 0;
    for (let retried = 0; ;) {
      if (ask && token === undefined) {
        const answer = await within(caller, deadline - performance.now(), async (signal) =>
          ask(asked > 0, signal),
        );
        if (typeof answer === 'string') return ended(answer);
        ({ token } = answer);
        asked += 1;
        if (typeof token === 'string' && isBearerToken(token)) sent.push(token);
        else token = undefined;
      }
      if (typeof token !== 'string') {
        const message = 'there is no RFC 6750 b64token to send';
        return err({ kind: 'token-failed', message, ...progress.told });
      }
      const leftMs = deadline - performance.now();
      const isLast = leftMs <= attemptTimeoutMs;
      const limitMs = isLast ? leftMs : attemptTimeoutMs;
      const answer = await attempt(request, token, limitMs, redact, progress);
      // What the caller or the clock of the call has ended does not go on, whatever its status was.
      if (answer === 'aborted' || (answer === 'timeout' && isLast)) return ended(answer);
      const outcome = answer === 'timeout' ? ended(answer, limitMs) : answer;
      if (outcome.isOk()) return outcome;
      const { error } = outcome;
      const { attempts } = error;
      const { retryAfter } = progress;
      progress = { told: { attempts } };
      if ('status' in error && error.status === 401 && ask && asked < 2) {
        token = undefined;
        continue;
      }
      const waitMs = retryDelayMs(settings, retried, retryAfterMs(retryAfter));
      // To wait for the clock to end the call would be to wait for nothing.
      const tooLate = performance.now() + waitMs >= deadline;
      if (!isPassing(error) || retried >= retries || tooLate) return outcome;
      retried += 1;
      tell(settings.onRetry, { attempts, waitMs, error });
      const waited = await within(caller, waitMs, never);
      if (waited === 'aborted') return ended(waited);
    }
  } catch (thrown) {
    // Such as what a runtime lacks.
    return brokenBy(thrown, redact, progress);
  } finally {
    tell(readMember(options, 'onSettled'), { attempts: progress.told.attempts });
  }
};
