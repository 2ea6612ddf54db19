import type { Plant } from '@plantstore/core';
import { err, type Result } from 'neverthrow';
import type { CreatePlantError } from './create-plant-error.ts';
import { describeCause } from './describe-cause.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { readAnswer } from './read-answer.ts';
import { readBytes } from './read-bytes.ts';
import type { Redact } from './redactor.ts';
import { quietly, safely } from './safely.ts';
import { type Interruption, within } from './within.ts';

export type Outcome = Result<Plant, CreatePlantError>;

/** How far a call has come; each attempt has its own, so that an answer after it changes nothing. */
export type Progress = {
  /** What errors tell: the status only while an answer is under way. */
  readonly told: { attempts: number; status?: number };
  /** What the answer says of the next attempt, if anything. */
  retryAfter?: unknown;
};

/** The error of whatever was thrown. */
export const brokenBy = (
  thrown: unknown,
  redact: Redact,
  { told }: Progress,
  kind: 'network' | 'aborted' = 'network',
): Outcome => {
  const message = kind === 'network' ? 'no whole answer came' : 'the call was aborted';
  return err({ kind, message, cause: describeCause(thrown, redact), ...told });
};

/** Sends a request once, and waits for its answer until something ends that; never rejects. */
export const attempt = async (
  { url, body, fetch, caller }: PreparedRequest,
  token: string,
  limitMs: number,
  redact: Redact,
  progress: Progress,
): Promise<Outcome | Interruption> => {
  const { told } = progress;
  try {
    const answer = await within(caller, limitMs, async (signal) => {
      told.attempts += 1;
      // Called as a bare name: called as a member, a browser's fetch is an "Illegal invocation".
      const response = await fetch(url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
        // Following a redirect would show the token, and repeat the plant, elsewhere.
        redirect: 'manual',
        signal,
      });
      // From here on nobody may wait any more: it goes on only to cancel a body that comes too late.
      const { status } = response;
      if (!Number.isInteger(status)) {
        void quietly(() => response.body?.cancel());
        throw new TypeError('fetch answered no Response');
      }
      told.status = status;
      progress.retryAfter = safely(() => response.headers.get('retry-after'));
      // An honest answer repeats the request, at most with every character as a \uXXXX.
      const longest = 2 ** 20 + 6 * body.length;
      return { status, longest, body: await readBytes(response, signal, longest) };
    });
    return typeof answer === 'string' ? answer : readAnswer(answer, told.attempts, redact);
  } catch (thrown) {
    return brokenBy(thrown, redact, progress);
  }
};
