import { hash, timingSafeEqual } from 'node:crypto';
import { isBearerToken } from '@plantstore/core/wire';
import type { Authenticate } from '../http/authenticate.ts';

/** Returns a digest in hexadecimal digits, which Node creates in a third of the time of a Buffer. */
const hexDigest = (token: string): string => hash('sha256', token, 'hex');

/** What is kept of a token. */
export type AcceptedToken = {
  readonly digest: Buffer;
  readonly name?: string;
  /** Time from which it is refused, in milliseconds since 1970. Default: never. */
  readonly endsAt?: number;
};

/** A token without a name and an end. */
export const acceptedToken = (token: string): AcceptedToken => ({
  digest: Buffer.from(hexDigest(token), 'latin1'),
});

const digestBytes = 64;
/** Reused for each check. */
const checked = Buffer.alloc(digestBytes);

/** Returns the index of a token, or -1. */
const indexAmong = (accepted: readonly AcceptedToken[], token: string): number => {
  checked.write(hexDigest(token), 'latin1');
  let found = -1;
  for (const [index, { digest }] of accepted.entries()) {
    if (timingSafeEqual(digest, checked)) found = index;
  }
  return found;
};

/** Creates an `authenticate` for tokens that may have names and ends. */
const authenticateAmong = (accepted: readonly AcceptedToken[]): Authenticate => {
  const decisions = accepted.map(({ name }) => (name === undefined ? true : { tokenName: name }));
  return (token) => {
    const index = indexAmong(accepted, token);
    const endsAt = accepted[index]?.endsAt;
    return (endsAt === undefined || Date.now() < endsAt) && (decisions[index] ?? false);
  };
};

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
  return authenticateAmong(tokens.map(acceptedToken));
};

/** A set of tokens that can be replaced while requests are served. */
export type TokenSet = {
  readonly authenticate: Authenticate;
  /** Replaces the accepted tokens, from the next request on. */
  readonly replace: (accepted: readonly AcceptedToken[]) => void;
};

/** Creates a set that accepts these tokens, each before its end, until they are replaced. */
export const createTokenSet = (accepted: readonly AcceptedToken[]): TokenSet => {
  let current = authenticateAmong(accepted);
  return {
    authenticate: (token) => current(token),
    replace(others) {
      current = authenticateAmong(others);
    },
  };
};
