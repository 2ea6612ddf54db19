import { isBearerToken } from '@plantstore/core/wire';
import { isFunction } from './safely.ts';

/**
 * Why a token is asked for.
 *
 * @example
 * ```ts
 * import type { TokenRequest } from '@plantstore/client';
 *
 * const kept = new Map<string, string>();
 * declare const fetchToken: () => Promise<string>;
 * export const token = async ({ refresh }: TokenRequest): Promise<string> => {
 *   const old = refresh ? undefined : kept.get('token');
 *   const given = old ?? (await fetchToken());
 *   kept.set('token', given);
 *   return given;
 * };
 * ```
 */
export type TokenRequest = {
  /** Whether the service has just answered 401 to the token before: one from a cache will not do. */
  readonly refresh: boolean;
};

export type TokenSource = {
  /** The tokens that are known before anybody is asked. */
  readonly known: readonly string[];
  /**
   * Asks anew, or joins who is asking; what the function throws is no token. A question on which a call
   * gives up, as `signal` tells, may never be answered: the next call asks anew. None for a mere text.
   */
  readonly ask:
    ((refresh: boolean, signal: AbortSignal) => Promise<{ readonly token: unknown }>) | undefined;
};

/** The token as it was given, or a function's answer, which calls that wait at a time share. */
export const tokenSource = (given: unknown): TokenSource => {
  const pending: (Promise<{ token: unknown }> | undefined)[] = [];
  const begin = async (refresh: boolean) => {
    // Asked a turn later, so that a function that itself calls the client waits, not recurses.
    await Promise.resolve();
    try {
      return { token: isFunction(given) && (await given({ refresh })) };
    } catch {
      return { token: undefined };
    }
  };
  return {
    known: typeof given === 'string' && isBearerToken(given) ? [given] : [],
    ask: isFunction(given)
      ? (refresh, signal) => {
          const place = Number(refresh || pending[1] !== undefined);
          const question = (pending[place] ??= begin(refresh));
          const drop = () => {
            if (pending[place] === question) pending[place] = undefined;
          };
          signal.addEventListener('abort', drop);
          void question.then(drop);
          return question;
        }
      : undefined,
  };
};
