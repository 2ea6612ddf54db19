import { isBearerToken } from '@plantstore/core/wire';
import { isFunction } from './untrusted.ts';
import { type Interruption, withTimeout } from './with-timeout.ts';

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

/** Returns a value if it can be sent as a token. */
export const validToken = (value: unknown): string | undefined =>
  typeof value === 'string' && isBearerToken(value) ? value : undefined;

/** The result of the token function: a token, or `undefined` if it failed. */
type Issued = { readonly token: string | undefined };

/** A call of the token function; a refresh replaces the token `rejected`. */
type TokenCall = {
  readonly rejected: string | undefined;
  readonly startedAt: number;
  readonly result: Promise<Issued>;
};

/**
 * Returns a token to send, or one to replace a token that the service rejected. `signal` aborts when the
 * caller stops waiting.
 */
export type GetToken = (
  rejected: string | undefined,
  signal: AbortSignal,
) => Promise<Issued | Interruption>;

/** Time from the start of a refresh in which the same token is not refreshed again, in milliseconds. */
export const refreshPauseMs = 1_000;

/**
 * Returns a function that calls the token function once for all calls that wait, and once for a rejected
 * token. If the token function takes longer than `timeoutMs`, it is called again.
 */
export const tokenGetter = (token: unknown, timeoutMs: number): GetToken | undefined => {
  if (!isFunction(token)) return undefined;
  let latest: string | undefined;
  let pending: TokenCall | undefined;
  let lastRefresh: TokenCall | undefined;

  const callFunction = (rejected?: string): TokenCall => {
    // Called by a microtask, so that a token function that calls its own client waits and does not recurse.
    const result = Promise.resolve({ refresh: !!rejected })
      .then(token)
      .then(validToken, () => undefined)
      .then((issued): Issued => {
        if (pending === started) {
          pending = undefined;
          latest = issued ?? latest;
        }
        return { token: issued };
      });
    const started = { rejected, startedAt: performance.now(), result };
    return started;
  };

  return async (rejected, signal) => {
    for (;;) {
      // A pending refresh serves all calls, also after an abort, because a second one may revoke its token.
      if (!pending?.rejected) {
        if (rejected) {
          if (latest && latest !== rejected) return { token: latest };
          // Also after a failure, which calls one after another would repeat.
          if (
            lastRefresh?.rejected === rejected &&
            performance.now() < lastRefresh.startedAt + refreshPauseMs
          )
            return lastRefresh.result;
          lastRefresh = pending = callFunction(rejected);
        } else pending ??= callFunction();
      }
      const current = pending;
      const waitMs = current.startedAt + timeoutMs - performance.now();
      const result = await withTimeout(signal, waitMs, () => current.result);
      if (result !== 'timeout') return result;
      if (pending === current) pending = lastRefresh = undefined;
    }
  };
};
