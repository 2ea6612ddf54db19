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

/** The result of a call of the token function, compared by identity: a refresh may return the same token again. */
export type Issued = {
  /** The token, or `undefined` if the function failed. */
  readonly token: string | undefined;
};

type Pending = {
  readonly refresh: boolean;
  /** The time from which on calls stop waiting for it. */
  readonly deadline: number;
  readonly issued: Promise<Issued>;
};

/**
 * Returns a token to send, or one to replace a token that the service rejected. `signal` aborts when the
 * caller stops waiting.
 */
export type GetToken = (
  rejected: Issued | undefined,
  signal: AbortSignal,
) => Promise<Issued | Interruption>;

/**
 * Returns a function that calls the token function once for all calls that wait, and once for a rejected
 * token. If the token function takes longer than `timeoutMs`, it is called again.
 */
export const tokenGetter = (token: unknown, timeoutMs: number): GetToken | undefined => {
  if (!isFunction(token)) return undefined;
  let latest: Issued | undefined;
  let pending: Pending | undefined;

  const callFunction = (refresh: boolean): Pending => {
    // Called by a microtask, so that a token function that calls its own client waits and does not recurse.
    const issued = Promise.resolve({ refresh })
      .then(token)
      .then(validToken, () => undefined)
      .then((result): Issued => {
        const isCurrent = pending === started;
        if (isCurrent) pending = undefined;
        // The function returned the same token again.
        if (latest && result === latest.token) return latest;
        const own = { token: result };
        if (isCurrent && result !== undefined) latest = own;
        return own;
      });
    const started = { refresh, deadline: performance.now() + timeoutMs, issued };
    return started;
  };

  return async (rejected, signal) => {
    for (;;) {
      // A pending refresh serves all calls, also after an abort, because a second one may revoke its token.
      if (!pending?.refresh) {
        if (rejected && latest && latest !== rejected) return latest;
        if (rejected) latest = undefined;
        if (rejected || !pending) pending = callFunction(!!rejected);
      }
      const current = pending;
      const waitMs = current.deadline - performance.now();
      const result = await withTimeout(signal, waitMs, () => current.issued);
      if (result !== 'timeout') return result;
      if (pending === current) pending = undefined;
    }
  };
};
