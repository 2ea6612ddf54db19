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

/** A token, or the message of the error `token-failed`. */
export type Issued = Result<string, string>;

/**
 * Returns a token to send, or one to replace a token that the service rejected; `undefined` if `signal` aborts, because
 * the caller has stopped waiting.
 */
export type GetToken = (
  rejected: string | undefined,
  signal: AbortSignal,
) => Promise<Issued | undefined>;

/** Time from the start of a refresh in which the same token is not refreshed again, in milliseconds. */
export const refreshPauseMs = 1_000;

/** A call of the token function; a refresh replaces the token `rejected`. */
type TokenCall = {
  readonly rejected: string | undefined;
  readonly result: Promise<Issued>;
  /** The end of {@link refreshPauseMs}, of `performance.now()`. */
  pauseEnd: number;
  /** The time until which calls wait for it, of `performance.now()`. */
  end: number;
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
      pauseEnd: performance.now() + refreshPauseMs,
      end: performance.now() + timeoutMs,
      // Called by a microtask, so that a token function that calls its own client waits and does not recurse.
      result: Promise.resolve({ refresh: !!rejected })
        .then(token)
        .catch(() => {})
        .then((value) => {
          const issued = checkToken(value);
          if (pending === started) {
            pending = undefined;
            latest = issued.unwrapOr(latest);
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
        if (latest && latest !== rejected) return ok(latest);
        // Also after a failure, which calls one after another would repeat.
        if (lastRefresh?.rejected !== rejected || performance.now() >= lastRefresh.pauseEnd)
          lastRefresh = pending = callFunction(rejected);
        current = lastRefresh;
      }
      const awaited = (current ??= pending = callFunction());
      const issued = await withTimeout<Issued | undefined>(
        signal,
        awaited.end - performance.now(),
        () => awaited.result,
        () => {
          awaited.end = awaited.rejected ? awaited.pauseEnd : 0;
          return undefined;
        },
      );
      if (issued || signal.aborted) return issued;
      awaited.pauseEnd = 0;
      if (pending === awaited) pending = undefined;
    }
  };
}

/** Returns a value if it can be sent as a token, or the message of what is wrong. */
export const checkToken = (value: unknown): Issued => {
  const text = isText(value) ? value : '?';
  if (isBearerToken(text)) return ok(text);
  const fault = /^bearer /i.test(text)
    ? 'begins with "Bearer "'
    : /\s$/.test(text)
      ? 'ends with white space'
      : text
        ? 'must be an RFC 6750 b64token'
        : 'is empty';
  return err(`token ${fault}`);
};
