import { hash, timingSafeEqual } from 'node:crypto';
import { isBearerToken } from '@plantstore/core/wire';
import type { TokenDecision } from '../http/options.ts';

/**
 * Creates an `authenticate` function that accepts exactly these tokens, for creating plants. It
 * keeps their SHA-256 digests and compares each in constant time, so that the duration reveals
 * nothing about a token. The last entry counts of a token that is given twice.
 *
 * @throws TypeError for an invalid bearer token (RFC 6750 §2.1), or an end that is not a number
 * @example
 * ```ts
 * import { acceptTokens } from '@plantstore/server';
 *
 * let current = acceptTokens(['s3cret']);
 * // Assigning another function to `current` replaces the tokens while the server runs.
 * export const authenticate = (token: string) => current(token);
 * current = acceptTokens([{ token: 'n3w', name: 'greenhouse', endsAt: Date.UTC(2027, 0, 1) }]);
 * ```
 */
export function acceptTokens(
  tokens: readonly (string | AcceptedToken)[],
): (token: string) => TokenDecision {
  const kept = tokens.map(keptOf);
  return (given) => {
    // In hexadecimal digits, which Node creates faster than a Buffer.
    compared.write(hash('sha256', given, 'hex'), 'latin1');
    let found: Kept | undefined;
    for (const one of kept) {
      if (timingSafeEqual(one.digest, compared)) found = one;
    }
    return found !== undefined && Date.now() < found.endsAt && found.decision;
  };
}

/** A token with a name and an end. */
export type AcceptedToken = {
  /** The bearer token. */
  readonly token: string;
  /** Its name, for the log. Default: none. */
  readonly name?: string;
  /** Time from which it is rejected, in milliseconds since 1970. Default: never. */
  readonly endsAt?: number;
};

/** What is kept of a token: not the token itself, because a heap dump contains it. */
type Kept = {
  readonly digest: Buffer;
  readonly endsAt: number;
  readonly decision: true | { readonly tokenName: string };
};

function keptOf(given: string | AcceptedToken): Kept {
  const entry: AcceptedToken = typeof given === 'string' ? { token: given } : given;
  const { token, name, endsAt = Infinity } = entry;
  if (!isBearerToken(token)) throw new TypeError('a token cannot be sent as a bearer token');
  if (Number.isNaN(endsAt)) throw new TypeError('the end of a token is not a time');
  const digest = Buffer.from(hash('sha256', token, 'hex'), 'latin1');
  return { digest, endsAt, decision: name === undefined || { tokenName: name } };
}

/** The digest of the given token, reused for each comparison. */
const compared = Buffer.alloc(64);
