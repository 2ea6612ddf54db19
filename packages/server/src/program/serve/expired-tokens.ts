import type { AcceptedToken } from '../settings/accepted-token.ts';
import type { Logger } from '../../http/logger.ts';

/** Logs a warning with the names of the tokens that have expired. */
export const warnOfExpiredTokens = (tokens: readonly AcceptedToken[], log: Logger): void => {
  const expired = tokens.filter(({ endsAt = Infinity }) => endsAt <= Date.now());
  if (expired.length === 0) return;
  const names = expired.map(({ name }) => name ?? 'without a name').join(', ');
  log.warn({ ended: expired.length, names }, 'tokens of the file have expired and are rejected');
};
