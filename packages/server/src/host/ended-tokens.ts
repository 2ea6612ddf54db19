import type { AcceptedToken } from '../accept-tokens.ts';
import type { Logger } from '../logger.ts';

/** Warns of tokens that are refused because their end has passed, by their names. */
export const warnOfEndedTokens = (tokens: readonly AcceptedToken[], log: Logger): void => {
  const ended = tokens.filter(({ endsAt = Infinity }) => endsAt <= Date.now());
  if (ended.length === 0) return;
  const names = ended.map(({ name }) => name ?? 'without a name').join(', ');
  log.warn({ ended: ended.length, names }, 'tokens of the file have ended and are refused');
};
