import { isBearerToken } from '@plantstore/core/wire';
import { isFunction } from './untrusted.ts';

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

/** Calls the token function, or waits for its pending call. `signal` aborts when the caller stops waiting. */
export type GetToken = (
  refresh: boolean,
  signal: AbortSignal,
) => Promise<{ readonly token: string | undefined }>;

/** Returns a function that calls the token function once for all calls that wait at the same time. */
export const tokenGetter = (token: unknown): GetToken | undefined => {
  if (!isFunction(token)) return undefined;
  let pending: ReturnType<GetToken> | undefined;
  let isPendingRefresh = false;
  return (refresh, signal) => {
    // A pending refresh also serves calls that need any token.
    if (!pending || (refresh && !isPendingRefresh)) {
      isPendingRefresh = refresh;
      // Called by a microtask, so that a token function that calls its own client waits and does not recurse.
      pending = Promise.resolve({ refresh })
        .then(token)
        .catch(() => undefined)
        .then((result) => ({ token: validToken(result) }));
    }
    const current = pending;
    const clear = () => {
      if (pending === current) pending = undefined;
    };
    // Cleared on abort too, because a token function may never settle.
    signal.addEventListener('abort', clear);
    void current.then(clear);
    return current;
  };
};
