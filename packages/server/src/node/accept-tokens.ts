import { isBearerToken } from '@plantstore/core/wire';
import type { Authenticate } from '../http/authenticate.ts';
import { digestOf, indexOfToken } from '../http/token-digest.ts';

/**
 * Creates an `authenticate` function that accepts exactly these tokens. It keeps their SHA-256 digests
 * and compares each in constant time, so that the duration reveals nothing about a token.
 *
 * @throws TypeError for a token that is not a valid bearer token (RFC 6750 §2.1)
 * @example
 * ```ts
 * import { acceptTokens } from '@plantstore/server';
 *
 * const authenticate = acceptTokens(['s3cret']);
 * await authenticate('s3cret'); // true
 * ```
 */
export const acceptTokens = (tokens: readonly string[]): Authenticate => {
  if (!tokens.every(isBearerToken)) throw new TypeError('a token cannot be sent as a bearer token');
  const digests = tokens.map(digestOf);
  return (token) => indexOfToken(digests, token) !== -1;
};
