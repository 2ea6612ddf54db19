/**
 * Returns whether a text can be sent as a bearer token (RFC 6750 §2.1): letters, digits and
 * `-._~+/`, with `=` at the end only, not empty.
 *
 * @example
 * ```ts
 * import { isBearerToken } from '@plantstore/core/wire';
 *
 * isBearerToken('mF_9.B5f-4.1JqM'); // true
 * isBearerToken('two words'); // false
 * ```
 */
export function isBearerToken(text: string): boolean {
  return b64token.test(text);
}

/** b64token (RFC 6750 §2.1). */
const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;
