import type { Authenticate } from '@plantstore/server';
import { indexOfToken } from '../../../server/src/http/token-digest.ts';
import type { AcceptedToken } from '../settings/accepted-token.ts';

const authenticateAmong = (accepted: readonly AcceptedToken[]): Authenticate => {
  const digests = accepted.map(({ digest }) => digest);
  const decisions = accepted.map(({ name }) => (name === undefined ? true : { tokenName: name }));
  return (token) => {
    const index = indexOfToken(digests, token);
    const endsAt = accepted[index]?.endsAt;
    return (endsAt === undefined || Date.now() < endsAt) && (decisions[index] ?? false);
  };
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
