import { orUndefined } from './lenient.ts';

// URL trims and drops white space and controls, calls an empty query, fragment or user info none, and
// takes any number of slashes before the host.
const plainHttpUrl = /^https?:\/\/[^\0-\x20\s/\\?#@]+(?:[/\\][^\0-\x20\s?#]*)?$/i;

/** Where plants are created below a base URL, or nothing where it is no plain http(s) URL. */
export const plantsUrl = (baseUrl: unknown): string | undefined =>
  typeof baseUrl === 'string' && plainHttpUrl.test(baseUrl)
    ? orUndefined(() => new URL(baseUrl).href.replace(/\/?$/, '/plants'))
    : undefined;
