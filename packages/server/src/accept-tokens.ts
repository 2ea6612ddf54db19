import { hash, timingSafeEqual } from 'node:crypto';
import { isBearerToken } from '@plantstore/core/wire';
import type { Authenticate } from './authenticate.ts';

/** In hexadecimal digits, which Node gives in a third of the time that a Buffer takes. */
const hexDigest = (token: string): string => hash('sha256', token, 'hex');

/** The digest of a token, which is kept in its place. */
export const digestOf = (token: string): Buffer => Buffer.from(hexDigest(token), 'latin1');

const digestBytes = 64;
/** Reused for each token that is checked. */
const checked = Buffer.alloc(digestBytes);

const isAmong = (digests: readonly Buffer[], token: string): boolean => {
  checked.write(hexDigest(token), 'latin1');
  let accepted = 0;
  for (const digest of digests) accepted |= Number(timingSafeEqual(digest, checked));
  return accepted === 1;
};

/**
 * Accepts exactly these tokens. Their digests are kept, not they; each is compared in constant
 * time, and always all of them, so that the time tells nothing.
 *
 * @throws TypeError for a token that no request could bring (RFC 6750 §2.1)
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
  return (token) => isAmong(digests, token);
};

/** Tokens that can be exchanged for others while requests are served. */
export type TokenSet = {
  readonly authenticate: Authenticate;
  /** From the next request on, the tokens with these digests are accepted and no others. */
  readonly replace: (digests: readonly Buffer[]) => void;
};

/** Accepts the tokens with these digests, until they are replaced. */
export const createTokenSet = (digests: readonly Buffer[]): TokenSet => {
  let current = digests;
  return {
    authenticate: (token) => isAmong(current, token),
    replace(others) {
      current = others;
    },
  };
};
