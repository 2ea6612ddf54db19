import { isBearerToken } from '@plantstore/core/wire';
import { withTimeout } from './timeout.ts';

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

/**
 * Returns a token to send, or one to replace a token that the service rejected; `undefined` if the function fails,
 * or if `signal` aborts, because the caller has stopped waiting.
 */
export type GetToken = (
  rejected: string | undefined,
  signal: AbortSignal,
) => Promise<string | undefined>;

/** Time from the start of a refresh in which the same token is not refreshed again, in milliseconds. */
export const refreshPauseMs = 1_000;

/** A call of the token function; a refresh replaces the token `rejected`. */
type TokenCall = {
  readonly rejected: string | undefined;
  readonly startedAt: number;
  readonly result: Promise<string | undefined>;
  /** Time from its start in which calls wait for it, in milliseconds. */
  limitMs: number;
};

/**
 * Returns a function that calls the token function once for all calls that wait, and once for a rejected token.
 * The token function is called again if it takes longer than `timeoutMs`, or than a call that waits for it: on
 * Workers, it never settles after the request that called it.
 */
export function createGetToken(
  token: (request: TokenRequest) => string | Promise<string>,
  timeoutMs: number,
): GetToken {
  let latest: string | undefined;
  let pending: TokenCall | undefined;
  let lastRefresh: TokenCall | undefined;

  const callFunction = (rejected?: string): TokenCall => {
    const started: TokenCall = {
      rejected,
      startedAt: performance.now(),
      limitMs: timeoutMs,
      // Called by a microtask, so that a token function that calls its own client waits and does not recurse.
      result: Promise.resolve({ refresh: !!rejected })
        .then(token)
        .then(validToken, () => undefined)
        .then((issued) => {
          if (pending === started) {
            pending = undefined;
            latest = issued ?? latest;
          }
          return issued;
        }),
    };
    return started;
  };

  return async (rejected, signal) => {
    for (;;) {
      let current = pending;
      // A pending refresh serves all calls, because a second one may revoke its token.
      if (rejected && !current?.rejected) {
        if (latest && latest !== rejected) return latest;
        // Also after a failure, which calls one after another would repeat.
        if (
          lastRefresh?.rejected !== rejected ||
          performance.now() >= lastRefresh.startedAt + refreshPauseMs
        )
          lastRefresh = pending = callFunction(rejected);
        current = lastRefresh;
      }
      const awaited = (current ??= pending = callFunction());
      const issued = await withTimeout<string | null | undefined>(
        signal,
        awaited.startedAt + awaited.limitMs - performance.now(),
        () => awaited.result,
        (by) => {
          if (by === 'timeout') return null;
          awaited.limitMs = awaited.rejected ? refreshPauseMs : 0;
          return undefined;
        },
      );
      if (issued !== null) return issued;
      if (pending === awaited) pending = undefined;
      if (lastRefresh === awaited) lastRefresh = undefined;
    }
  };
}

/** Returns a value if it can be sent as a token. */
export const validToken = (value: unknown): string | undefined =>
  typeof value === 'string' && isBearerToken(value) ? value : undefined;
