import { type AcceptedToken, acceptTokens, type Logger } from '@plantstore/server';

/** Creates a set that accepts these tokens, each before its end. */
export function createTokenSet(tokens: readonly AcceptedToken[]): TokenSet {
  return {
    authenticate: acceptTokens(tokens),
    entries: tokens.map(({ token: _token, ...entry }) => entry),
  };
}

/** Accepted tokens, of which only digests are kept, because a crash dump contains the settings. */
export type TokenSet = {
  readonly authenticate: ReturnType<typeof acceptTokens>;
  /** Names and ends, in the order of the file. */
  readonly entries: readonly Omit<AcceptedToken, 'token'>[];
};

const message = 'tokens of the file have expired and are rejected';

export function expiredTokenWarnings(tokens: TokenSet): string[] {
  const { ended, names } = expiredIn(tokens);
  return ended === 0 ? [] : [`${message}: ${names}`];
}

export function warnOfExpiredTokens(tokens: TokenSet, log: Logger): void {
  const expired = expiredIn(tokens);
  if (expired.ended > 0) log.warn(expired, message);
}

function expiredIn({ entries }: TokenSet) {
  const expired = entries.filter(({ endsAt = Infinity }) => endsAt <= Date.now());
  const names = expired.map(({ name }) => name ?? 'without a name').join(', ');
  return { ended: expired.length, names };
}
