import { readMember } from './read-member.ts';

/**
 * How a client reaches its plant store. What is wrong here does not throw: the calls answer the error.
 *
 * @example
 * ```ts
 * import type { ClientOptions } from '@plantstore/client';
 *
 * export const options: ClientOptions = {
 *   baseUrl: 'https://plants.example/garden/v1',
 *   token: 'mF_9.B5f-4.1JqM',
 *   attemptTimeoutMs: 2_000,
 * };
 * ```
 */
export type ClientOptions = {
  /**
   * Where the service is: an absolute http or https URL without user info, query or fragment. A path
   * is kept, a trailing slash makes no difference. Required. Source: the specification's "Base address".
   */
  readonly baseUrl: string;
  /**
   * The bearer token, an RFC 6750 b64token without the word `Bearer`. Required. It never shows in an
   * error or in the client. Source: the specification's "Authentication".
   */
  readonly token: string;
  /**
   * What sends the requests. Default: `globalThis.fetch`, looked up at each call. It is called
   * without a `this`, with `redirect: 'manual'`.
   */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * How long one attempt may take, from the request to the last byte of the answer, in milliseconds.
   * Default: 10_000 (10 seconds), also for what is no positive number. More than 2_147_483_647
   * (24.8 days, as long as a timer can be), `Infinity` included, counts as that.
   */
  readonly attemptTimeoutMs?: number | undefined;
};

/** The options as they were when the client was made, not yet checked. */
export type Settings = {
  readonly baseUrl: unknown;
  readonly token: unknown;
  readonly fetch: unknown;
  readonly attemptTimeoutMs: number;
};

const defaultTimeoutMs = 10_000;
const longestTimeoutMs = 2 ** 31 - 1;

const toTimeoutMs = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, longestTimeoutMs) : defaultTimeoutMs;

export const readSettings = (options: unknown): Settings => ({
  baseUrl: readMember(options, 'baseUrl'),
  token: readMember(options, 'token'),
  fetch: readMember(options, 'fetch'),
  attemptTimeoutMs: toTimeoutMs(readMember(options, 'attemptTimeoutMs')),
});
