import { operation } from '@plantstore/core/wire';
import { err, type Result } from 'neverthrow';
import type { CreatePlantError, Failure, Outcome, Report, TimedOut } from './errors.ts';
import { aborted, type CallState, networkFailed, timedOut, tokenFailed } from './failures.ts';
import { type Fields, mergeHeaders } from './headers.ts';
import type { PlantRequest } from './request.ts';
import { outcomeOf, reportOf } from './response.ts';
import { cancelBody, readText } from './response-text.ts';
import { retryWait } from './retry.ts';
import { sleep, withTimeout } from './timeout.ts';
import type { SharedToken } from './token.ts';
import { ignoreErrors, isText } from './untrusted.ts';

/**
 * A call of `createPlant`, from a valid request to its outcome. Its phases, in their order:
 *
 * - `request-headers`: gets the additional header fields, if there are sources of them.
 * - `token`: gets a token, if it is a function: before the first attempt, and after the first 401.
 * - `response`: an attempt begins: sends the request, and waits for the head of the response.
 * - `body`: reads the response, which ends the attempt.
 *
 * Between attempts, it waits. A phase ends with its result, with its time limit, with that of the
 * call, or with an abort by the caller. The last two end the call.
 */
export class Call implements CallState {
  readonly #request: PlantRequest;
  /** The time at which the time limit of the call expires, of `performance.now()`. */
  readonly #deadline: number;
  /** The tokens of the call; the last one is in use. */
  readonly tokens: string[];
  /** The report of the last attempt. */
  report: Report = { attempts: 0 };
  /** The additional header fields. */
  #fields: Fields = {};
  /** What is missing if the phase ends early. */
  #missing = '';
  /** Whether the time limit of the call has expired, or the caller has aborted it. */
  #isOver = false;

  constructor(request: PlantRequest) {
    this.#request = request;
    this.#deadline = performance.now() + request.limits.timeoutMs;
    this.tokens = isText(request.token) ? [request.token] : [];
  }

  /** Makes attempts until an outcome is final. Called once. */
  async run(): Promise<Outcome> {
    const { headers, limits, onRetry, signal, token } = this.#request;
    // Without these two, the request is sent before `createPlant` returns.
    if (headers.length > 0) {
      const failed = await this.#getFields();
      if (failed !== undefined) return failed;
    }
    if (!isText(token)) {
      const failed = await this.#getToken(token);
      if (failed !== undefined) return failed;
    }
    for (let retried = 0; ; retried += 1) {
      let outcome = await this.#attempt();
      if (!isText(token) && this.#needsNewToken()) {
        outcome = (await this.#getToken(token)) ?? (await this.#attempt());
      }
      if (outcome.isOk() || this.#isOver) return outcome;
      const { error } = outcome;
      const waitMs = retryWait(error, retried, limits, this.#deadline - performance.now());
      if (waitMs === undefined) return outcome;
      void ignoreErrors(() => onRetry?.({ attempts: error.attempts, waitMs, error }));
      // After an abort, the next attempt ends the call before it sends anything.
      await sleep(waitMs, signal);
    }
  }

  async #getFields(): Promise<Failure | undefined> {
    const { headers } = this.#request;
    const merged = await this.#runPhase('request-headers', () => mergeHeaders(headers, this));
    if (merged.isErr()) return err(merged.error);
    this.#fields = merged.value;
    return undefined;
  }

  /** Gets a first token, or one that replaces the last. */
  async #getToken(source: SharedToken): Promise<Failure | undefined> {
    const issued = await this.#runPhase('token', async (signal) => {
      const received = await source.get(this.tokens.at(-1), signal);
      return received.mapErr((message) => tokenFailed(this, message));
    });
    if (issued.isErr()) return err(issued.error);
    this.tokens.push(issued.value);
    return undefined;
  }

  async #attempt(): Promise<Outcome> {
    const { attemptTimeoutMs } = this.#request.limits;
    return this.#runPhase('response', async (signal) => this.#send(signal), attemptTimeoutMs);
  }

  /** Returns whether the last attempt is made again, beyond the retries, with a new token. */
  #needsNewToken(): boolean {
    if (this.#isOver || this.report.status !== 401) return false;
    // A service that rejects a new token may reject every other one.
    return this.tokens.length === 1;
  }

  /** Sends the request once, and reads its response; rejects only if the runtime lacks an API. */
  async #send(signal: AbortSignal): Promise<Outcome> {
    const { body, fetch, url } = this.#request;
    // Jest with jsdom has none: without it, nothing must be sent.
    const decoder = new TextDecoder();
    this.report = { attempts: this.report.attempts + 1 };
    try {
      // Following a redirect would send the token and the plant to another URL. Called without an
      // object, because a browser's fetch throws "Illegal invocation" as a method of another one.
      const response = await fetch(url, {
        method: operation.method,
        headers: {
          ...this.#fields,
          authorization: `Bearer ${this.tokens.at(-1)}`,
          'content-type': 'application/json',
        },
        body,
        redirect: 'manual',
        signal,
      });
      // A response that arrives after the end of its attempt is not read either.
      if (signal.aborted || !Number.isSafeInteger(response.status)) {
        cancelBody(response);
        throw new Error('no Response');
      }
      this.report = reportOf(response, this);
      this.#missing = 'incomplete response';
      // A valid response repeats the plant, at most with every character as a \uXXXX.
      const text = await readText(response, decoder, signal, 2 ** 20 + 6 * body.length);
      return outcomeOf(this, response, this.#request, text);
    } catch (thrown) {
      return networkFailed(this, this.#missing, thrown);
    }
  }

  /**
   * Runs a phase until it ends, its time limit or that of the call expires, or the caller aborts
   * the call.
   */
  async #runPhase<T>(
    phase: TimedOut['phase'],
    work: (signal: AbortSignal) => Promise<Result<T, CreatePlantError>>,
    phaseMs = this.#request.limits.timeoutMs,
  ): Promise<Result<T, CreatePlantError>> {
    const { limits, signal: caller } = this.#request;
    this.#missing = `no ${phase}`;
    const remainingMs = this.#deadline - performance.now();
    const isLast = remainingMs <= phaseMs;
    return withTimeout(caller, isLast ? remainingMs : phaseMs, work, (by) => {
      this.#isOver = isLast || by === 'aborted';
      if (by === 'aborted') return aborted(this, caller?.reason);
      const ms = isLast ? limits.timeoutMs : phaseMs;
      return timedOut(this, phase, `${this.#missing} within ${ms} ms`);
    });
  }
}
