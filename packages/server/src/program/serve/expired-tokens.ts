import type { AcceptedToken } from '../settings/accepted-token.ts';
import type { Logger } from '../../http/logger.ts';

/** Returns a warning and its fields, if tokens have expired. */
export const expiredTokens = (tokens: readonly AcceptedToken[]) => {
  const expired = tokens.filter(({ endsAt = Infinity }) => endsAt <= Date.now());
  if (expired.length === 0) return undefined;
  const names = expired.map(({ name }) => name ?? 'without a name').join(', ');
  const which = expired.length === tokens.length ? 'all tokens' : 'tokens';
  const warning = `${which} of the file have expired and are rejected`;
  return { warning, fields: { ended: expired.length, names } };
};

/** Logs a warning with the names of the tokens that have expired. */
export const warnOfExpiredTokens = (tokens: readonly AcceptedToken[], log: Logger): void => {
  const expired = expiredTokens(tokens);
  if (expired !== undefined) log.warn(expired.fields, expired.warning);
};
