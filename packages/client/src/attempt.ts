import type { Plant } from '@plantstore/core';
import { err, type Result } from 'neverthrow';
import type { CreatePlantError } from './create-plant-error.ts';
import { describeCause } from './describe-cause.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { readAnswer } from './read-answer.ts';
import { readBytes } from './read-bytes.ts';
import { redactorOf } from './redactor.ts';
import { quietly, safely } from './safely.ts';
import { type Interruption, within } from './within.ts';

export type Outcome = Result<Plant, CreatePlantError>;

/** How far a call has come. */
export type Progress = {
  /** Every token that was sent: none of them may show in an error. */
  readonly sent: string[];
  /** What errors tell: the status only while an answer is under way. */
  told: { attempts: number; status?: number };
  /** What the last answer says of the next attempt, if anything. */
  retryAfter?: unknown;
};

/** The error of a call or an attempt that was ended from outside. */
export const endedBy = (
  by: Interruption,
  timeoutMs: number,
  reason: unknown,
  { told, sent }: Progress,
): Outcome =>
  err(
    by === 'timeout'
      ? { kind: by, message: `no whole answer within ${timeoutMs} ms`, ...told }
      : {
          kind: by,
          message: 'the call was aborted',
          cause: describeCause(reason, redactorOf(sent)),
          ...told,
        },
  );

/** The error of whatever was thrown. */
export const brokenBy = (thrown: unknown, { told, sent }: Progress): Outcome => {
  const cause = describeCause(thrown, redactorOf(sent));
  return err({ kind: 'network', message: 'no whole answer came', cause, ...told });
};

/** Sends a request once; never rejects. */
export const attempt = async (
  { url, body, fetch }: PreparedRequest,
  token: string,
  progress: Progress,
  timeoutMs: number,
  above: AbortSignal,
): Promise<Outcome> => {
  const { told, sent } = progress;
  progress.retryAfter = undefined;
  try {
    const answer = await within(above, timeoutMs, async (signal) => {
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
      const answered = await readBytes(response, signal, 2 ** 20 + 6 * body.length);
      return { status, body: answered };
    });
    return typeof answer === 'string'
      ? endedBy(answer, timeoutMs, undefined, progress)
      : readAnswer(answer, told.attempts, redactorOf(sent));
  } catch (thrown) {
    return brokenBy(thrown, progress);
  }
};
