import type { Plant } from '@plantstore/core';
import { err, type Result } from 'neverthrow';
import { startClock } from './attempt-clock.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { describeCause, redactorOf } from './describe-cause.ts';
import { exchange } from './exchange.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { readAnswer } from './read-answer.ts';
import { readMember } from './read-member.ts';

/** Sends a request once; never rejects. */
export const attempt = async (
  { url, token, body, signal: caller, fetch }: PreparedRequest,
  attemptTimeoutMs: number,
): Promise<Result<Plant, CreatePlantError>> => {
  const redact = redactorOf(token);
  const progress: { attempts: number; status?: number } = { attempts: 0 };
  const aborted = (): Result<Plant, CreatePlantError> => {
    const cause = describeCause(readMember(caller, 'reason'), redact);
    return err({ kind: 'aborted', message: 'the call was aborted', cause, ...progress });
  };
  if (readMember(caller, 'aborted') === true) return aborted();

  const send = (signal: AbortSignal): Promise<Response> => {
    progress.attempts = 1;
    // Called as a bare name: called as a member, a browser's fetch is an "Illegal invocation".
    return fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body,
      // Following a redirect would show the token, and repeat the plant, elsewhere.
      redirect: 'manual',
      signal,
    });
  };
  // An honest answer repeats the request, at most with every character as a \uXXXX.
  const longestBody = 2 ** 20 + 6 * body.length;
  const onStatus = (status: number): void => {
    progress.status = status;
  };
  let stop = (): void => {};
  try {
    // Within, for a runtime may lack what it needs.
    const clock = startClock(caller, attemptTimeoutMs);
    ({ stop } = clock);
    const answering = exchange(send, clock.signal, longestBody, onStatus);
    const outcome = await Promise.race([clock.interrupted, answering]);
    if (outcome === 'aborted') return aborted();
    if (outcome !== 'timeout') return readAnswer(outcome, redact);
    const message = `no whole answer within ${attemptTimeoutMs} ms`;
    return err({ kind: 'timeout', message, ...progress });
  } catch (thrown) {
    const cause = describeCause(thrown, redact);
    return err({ kind: 'network', message: 'no whole answer came', cause, ...progress });
  } finally {
    stop();
  }
};
