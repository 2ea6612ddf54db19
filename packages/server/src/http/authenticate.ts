/**
 * The decision of `authenticate`. `true` accepts the token, and so does an object with the name of the token, which the
 * log and the events of the request then contain. Any other value results in 401.
 */
export type TokenDecision =
  | boolean
  | {
      /** Name of the token, for the log. Never a part of the token. */
      readonly tokenName: string;
    };

/**
 * Decides whether a bearer token may create plants. Only `true` or a token's name lets a request in; throwing or
 * rejecting results in 500.
 *
 * @example
 * ```ts
 * import type { Authenticate } from '@plantstore/server';
 *
 * export const authenticate: Authenticate = (token) =>
 *   token === process.env['PLANT_TOKEN'] && { tokenName: 'greenhouse' };
 * ```
 */
export type Authenticate = (token: string) => TokenDecision | Promise<TokenDecision>;
