import type { AcceptedToken } from '../settings/accepted-token.ts';
import type { Logger } from '@plantstore/server';

const message = 'tokens of the file have expired and are rejected';

const expiredIn = (tokens: readonly AcceptedToken[]) => {
  const expired = tokens.filter(({ endsAt = Infinity }) => endsAt <= Date.now());
  const names = expired.map(({ name }) => name ?? 'without a name').join(', ');
  return { ended: expired.length, names };
};

/** Returns warnings with the names of the tokens that have expired. */
export const expiredTokenWarnings = (tokens: readonly AcceptedToken[]): string[] => {
  const { ended, names } = expiredIn(tokens);
  if (ended === 0) return [];
  const others = ended === tokens.length ? '; there is no other, so every client is refused' : '';
  return [`${message}: ${names}${others}`];
};

/** Logs a warning with the names of the tokens that have expired. */
export const warnOfExpiredTokens = (tokens: readonly AcceptedToken[], log: Logger): void => {
  const expired = expiredIn(tokens);
  if (expired.ended > 0) log.warn(expired, message);
};
