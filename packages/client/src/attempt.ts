import type { Plant } from '@plantstore/core';
import { err, type Result } from 'neverthrow';
import { startClock } from './attempt-clock.ts';
import type { Settings } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import { describeCause, redactorOf } from './describe-cause.ts';
import { exchange } from './exchange.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { readAnswer } from './read-answer.ts';
import { readMember } from './read-member.ts';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const isFetch = (value: unknown): value is Fetch => typeof value === 'function';

// Looked up at each call, so that a fetch patched later is the one that is called.
const findFetch = (injected: unknown): Fetch => {
  const found = injected ?? globalThis.fetch;
  if (isFetch(found)) return found;
  throw new TypeError('fetch is not a function');
};

/** Sends a request once; never rejects. */
export const attempt = async (
  { url, token, body, signal: caller }: PreparedRequest,
  { fetch: injected, attemptTimeoutMs }: Settings,
): Promise<Result<Plant, CreatePlantError>> => {
  const redact = redactorOf(token);
  const progress: { attempts: number; status?: number } = { attempts: 0 };
  const aborted = (): Result<Plant, CreatePlantError> => {
    const cause = describeCause(readMember(caller, 'reason'), redact);
    return err({ kind: 'aborted', message: 'the call was aborted', cause, ...progress });
  };
  if (readMember(caller, 'aborted') === true) return aborted();

  const clock = startClock(caller, attemptTimeoutMs);
  const send = (): Promise<Response> => {
    // Called as a bare name: called as a member, a browser's fetch is an "Illegal invocation".
    const fetch = findFetch(injected);
    progress.attempts = 1;
    return fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body,
      // Following a redirect would show the token, and repeat the plant, elsewhere.
      redirect: 'manual',
      signal: clock.signal,
    });
  };
  // An honest answer repeats the request, at most with every character as a \uXXXX.
  const longestBody = 2 ** 20 + 6 * body.length;
  const onStatus = (status: number): void => {
    progress.status = status;
  };
  try {
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
    clock.stop();
  }
};
