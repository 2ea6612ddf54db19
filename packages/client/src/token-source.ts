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

/** A token that the token function returned, or `undefined` if it failed. */
export type Issued = {
  readonly token: string | undefined;
  /** Number of the call of the token function that returned it first. */
  readonly order: number;
};

/**
 * Returns a token to send, or one to replace a token that the service rejected. `signal` aborts when the
 * caller stops waiting.
 */
export type GetToken = (rejected: Issued | undefined, signal: AbortSignal) => Promise<Issued>;

/** Returns a function that calls the token function once for all calls that wait, and once for a rejected token. */
export const tokenGetter = (token: unknown): GetToken | undefined => {
  if (!isFunction(token)) return undefined;
  let calls = 0;
  let latest: Issued | undefined;
  let pending: { readonly refresh: boolean; readonly issued: Promise<Issued> } | undefined;

  const callFunction = async (refresh: boolean): Promise<Issued> => {
    calls += 1;
    const order = calls;
    // Called by a microtask, so that a token function that calls its own client waits and does not recurse.
    const result = validToken(
      await Promise.resolve({ refresh })
        .then(token)
        .catch(() => undefined),
    );
    const issued = { token: result, order };
    if (result === undefined) return issued;
    // A refresh replaces the rejected token even if both are the same text.
    if (latest && !refresh && result === latest.token) return latest;
    // A call of the function that started before the latest one may return a token from before a refresh.
    if (!latest || latest.order < order) latest = issued;
    return issued;
  };

  return (rejected, signal) => {
    // A pending refresh serves all calls.
    if (!pending?.refresh) {
      if (rejected && latest && latest.order > rejected.order) return Promise.resolve(latest);
      if (rejected || !pending) pending = { refresh: !!rejected, issued: callFunction(!!rejected) };
    }
    const current = pending;
    const clear = () => {
      if (pending === current) pending = undefined;
    };
    // Cleared on abort too, because a token function may never settle.
    signal.addEventListener('abort', clear);
    void current.issued.then(clear);
    return current.issued;
  };
};
