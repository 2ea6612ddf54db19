import { isBearerToken } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import { withTimeout } from './timeout.ts';
import { isText } from './untrusted.ts';

/**
 * Argument of the token function.
 *
 * @example
 * ```ts
 * import type { TokenRequest } from '@plantstore/client';
 *
 * const kept = new Map<string, string>();
 * declare const fetchToken: () => Promise<string>;
 * export const token = async ({ refresh }: TokenRequest): Promise<string> => {
 *   const old = refresh ? undefined : kept.get('token');
 *   const current = old ?? (await fetchToken());
 *   kept.set('token', current);
 *   return current;
 * };
 * ```
 */
export type TokenRequest = {
  /** Whether the service responded with 401 to the last token, so that a new one is needed. */
  readonly refresh: boolean;
};

export type TokenFunction = (request: TokenRequest) => string | Promise<string>;

/** A token, or the message of the error `token-failed`. */
export type Issued = Result<string, string>;

/**
 * Time from the start of a refresh in which its result serves for the same token, in milliseconds.
 */
const refreshPauseMs = 1_000;

/** One call of the token function. Times are of `performance.now()`. */
type TokenCall = {
  /** The token that a refresh replaces; `undefined` at the start of a call of the client. */
  readonly rejected: string | undefined;
  readonly result: Promise<Issued>;
  /** Until when calls of the client wait for it. */
  waitUntil: number;
  /** Until when no other refresh replaces the same token; 0 if it is no refresh. */
  servesUntil: number;
};

/**
 * The token function of a client, which calls it once for all calls that wait, and once for a
 * rejected token. It is called again if it takes longer than `timeoutMs`, or than a call that waits
 * for it: on Workers, it never settles after the request that called it.
 */
export class SharedToken {
  readonly #getToken: TokenFunction;
  readonly #timeoutMs: number;
  /** The last token that the function returned. */
  #latest: string | undefined;
  /** The last call of the function, until it settles or nothing waits for it. */
  #pending: TokenCall | undefined;
  #lastRefresh: TokenCall | undefined;

  constructor(getToken: TokenFunction, timeoutMs: number) {
    this.#getToken = getToken;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns a token to send, or one to replace a token that the service rejected. When `signal`
   * aborts, nothing waits for the result any more.
   */
  async get(rejected: string | undefined, signal: AbortSignal): Promise<Issued> {
    for (;;) {
      const found = this.#find(rejected);
      if (isText(found)) return ok(found);
      const stopWaiting = (): undefined => {
        // A later call does not wait for it either. It does wait for a refresh, as long as that
        // serves, because the refresh may have revoked the token before it.
        found.waitUntil = found.servesUntil;
      };
      const issued = await withTimeout<Issued | undefined>(
        signal,
        found.waitUntil - performance.now(),
        // Rejects only on Workers, if it belongs to a request that has ended: it never settles.
        () => found.result.catch(stopWaiting),
        stopWaiting,
      );
      if (issued !== undefined) return issued;
      if (signal.aborted) return err('aborted');
      found.servesUntil = 0;
      if (this.#pending === found) this.#pending = undefined;
    }
  }

  /** Returns a token, or the call of the function to wait for, which may be a new one. */
  #find(rejected: string | undefined): string | TokenCall {
    const pending = this.#pending;
    // A pending refresh serves all calls, because a second one may revoke its token.
    if (pending?.rejected !== undefined) return pending;
    // At the start of a call, the function decides which token serves.
    if (rejected === undefined) return pending ?? this.#call(undefined);
    // Another call has got a token since.
    if (this.#latest !== undefined && this.#latest !== rejected) return this.#latest;
    // Also after a failure, which calls one after another would repeat.
    const last = this.#lastRefresh;
    if (last?.rejected === rejected && performance.now() < last.servesUntil) return last;
    this.#lastRefresh = this.#call(rejected);
    return this.#lastRefresh;
  }

  #call(rejected: string | undefined): TokenCall {
    const now = performance.now();
    const started: TokenCall = {
      rejected,
      // By a microtask, so that a token function that calls its own client waits and does not
      // recurse.
      result: Promise.resolve({ refresh: rejected !== undefined })
        .then(this.#getToken)
        .then(checkToken, () => err('the token function threw'))
        .then((issued) => {
          // A call that has begun since has a newer result.
          if (this.#pending === started) {
            this.#pending = undefined;
            this.#latest = issued.unwrapOr(this.#latest);
          }
          return issued;
        }),
      waitUntil: now + this.#timeoutMs,
      servesUntil: rejected === undefined ? 0 : now + refreshPauseMs,
    };
    this.#pending = started;
    return started;
  }
}

/** Returns a value if it can be sent as a token, or the message of what is wrong. */
export function checkToken(value: unknown): Issued {
  if (isText(value) && isBearerToken(value)) return ok(value);
  return err('token must be an RFC 6750 b64token, without "Bearer " or white space');
}
