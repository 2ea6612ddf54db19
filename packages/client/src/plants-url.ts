import { ok, Result } from 'neverthrow';
import type { RequestInvalid } from './create-plant-error.ts';
import { requestInvalid } from './request-invalid.ts';

// URL trims and drops white space and controls, calls an empty query, fragment or user info none, and
// takes any number of slashes before the host.
const plainHttpUrl = /^https?:\/\/[^\0-\x20\s/\\?#@]+(?:[/\\][^\0-\x20\s?#]*)?$/i;

const parse = Result.fromThrowable((baseUrl: string) => new URL(baseUrl));

/** Where plants are created below a base URL. */
export const plantsUrl = (baseUrl: unknown): Result<string, RequestInvalid> => {
  const isPlain = typeof baseUrl === 'string' && plainHttpUrl.test(baseUrl);
  const url = isPlain ? parse(baseUrl).unwrapOr(undefined) : undefined;
  return url === undefined || url.username + url.password !== ''
    ? requestInvalid('base-url-invalid')
    : ok(url.href.replace(/\/?$/, '/plants'));
};
