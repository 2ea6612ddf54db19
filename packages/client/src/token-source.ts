import { isFunction } from './lenient.ts';

/**
 * Why the token function is called.
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
  /** Whether the service has just answered 401 to the last token: a cached one will not do. */
  readonly refresh: boolean;
};

/** Calls the token function, or joins a call of it that is pending; `signal` is that of one who waits. */
export type AskToken = (
  refresh: boolean,
  signal: AbortSignal,
) => Promise<{ readonly token: unknown }>;

/** Returns how to ask a token function, shared by the calls that wait at the same time. */
export const tokenQuestion = (token: unknown): AskToken | undefined => {
  if (!isFunction(token)) return undefined;
  let pending: { readonly refresh: boolean; readonly answer: ReturnType<AskToken> } | undefined;
  const begin = async (refresh: boolean) => {
    // Called a microtask later, so that a function that itself calls the client waits, not recurses.
    await Promise.resolve();
    try {
      return { token: await token({ refresh }) };
    } catch {
      return { token: undefined };
    }
  };
  return (refresh, signal) => {
    // A refreshed token will do for those who asked for any.
    if (!pending || (refresh && !pending.refresh)) pending = { refresh, answer: begin(refresh) };
    const question = pending;
    const drop = () => {
      if (pending === question) pending = undefined;
    };
    // A question that a call no longer waits for may never be answered: the next call asks anew.
    signal.addEventListener('abort', drop);
    void question.answer.then(drop);
    return question.answer;
  };
};
