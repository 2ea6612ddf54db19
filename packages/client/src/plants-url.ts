import { operation } from '@plantstore/core/wire';
import { undefinedOnThrow } from './untrusted.ts';

// new URL() is more lenient: it removes white space and control characters, ignores an empty query,
// fragment or user info, and accepts any number of slashes before the host.
const plainHttpUrl = /^https?:\/\/[^\0-\x20\s/\\?#@]+(?:[/\\][^\0-\x20\s?#]*)?$/i;

/** Returns the URL of `/plants` below a base URL, or `undefined` if that is not a plain http(s) URL. */
export const plantsUrl = (baseUrl: unknown): string | undefined =>
  typeof baseUrl === 'string' && plainHttpUrl.test(baseUrl)
    ? undefinedOnThrow(() => new URL(baseUrl).href.replace(/\/?$/, operation.path))
    : undefined;
