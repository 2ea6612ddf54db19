import { isBearerToken } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import { type AcceptedToken, acceptedToken } from '../settings/accepted-token.ts';

/** What may follow a token, in any order. */
const wordForm = /^(name|until)=(.*)$/;
const nameForm = /^[\w.-]{1,32}$/;
const dateForm = /^\d{4}-\d\d-\d\d$/;

const dayMs = 86_400_000;

/** Returns the end of a day in UTC, or `undefined` for an invalid date. */
const endOf = (date: string): number | undefined => {
  const start = dateForm.test(date) ? Date.parse(date) : Number.NaN;
  // Some engines parse the 30th of February as a day in March.
  const isDate = !Number.isNaN(start) && new Date(start).toISOString().startsWith(date);
  return isDate ? start + dayMs : undefined;
};

/** Copies a string, because a substring keeps the whole file with its tokens in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

const faults = {
  token:
    'has no bearer token in line $: a line begins with a token (letters, digits and -._~+/, with = at its end only)',
  word: 'has an unknown or repeated word in line $: a token is followed by name=NAME and until=DATE only, each at most once',
  name: 'has an invalid name in line $: a name is 1 to 32 letters, digits and -._',
  until: 'has an invalid date in line $: a date is the last valid day, such as 2027-01-31',
  repeated: 'has a token of an earlier line with another name or date in line $: keep one of them',
} as const;

/** What is wrong with a line; `word` is the number of the wrong one, from 1. */
type Fault = { readonly kind: keyof typeof faults; readonly word?: number };

/** Returns the values by key, or the number of the word that is wrong. */
const parseWords = (words: readonly string[]): Result<ReadonlyMap<string, string>, number> => {
  const values = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const [, key, value] = wordForm.exec(word) ?? [];
    // The token is the first word.
    if (key === undefined || value === undefined || values.has(key)) return err(index + 2);
    values.set(key, value);
  }
  return ok(values);
};

const parseLine = (
  line: string,
  earlier: readonly AcceptedToken[],
): Result<AcceptedToken, Fault> => {
  const [token = '', ...words] = line.split(/\s+/);
  if (!isBearerToken(token)) return err({ kind: 'token' });
  const values = parseWords(words);
  if (values.isErr()) return err({ kind: 'word', word: values.error });
  const name = values.value.get('name');
  if (name !== undefined && !nameForm.test(name)) return err({ kind: 'name' });
  const until = values.value.get('until');
  const endsAt = until === undefined ? undefined : endOf(until);
  if (until !== undefined && endsAt === undefined) return err({ kind: 'until' });
  const accepted = acceptedToken(token);
  const isContradicted = earlier.some(
    (other) =>
      other.digest.equals(accepted.digest) && (other.name !== name || other.endsAt !== endsAt),
  );
  if (isContradicted) return err({ kind: 'repeated' });
  return ok({
    ...accepted,
    ...(name !== undefined && { name: copyOf(name) }),
    ...(endsAt !== undefined && { endsAt }),
  });
};

/** Number of lines that a message names. */
const maxNamedLines = 5;

const listLines = (lines: readonly string[]): string => {
  const others = lines.length - maxNamedLines;
  const named = lines.slice(0, maxNamedLines).join(', ');
  return others > 0 ? `${named} and ${others} more` : named;
};

/**
 * Parses a tokens file. The error is a reason that follows its path in a sentence, and contains no part of a line,
 * because that may be a token.
 */
export const parseTokens = (text: string): Result<readonly AcceptedToken[], string> => {
  const tokens: AcceptedToken[] = [];
  const invalid = new Map<Fault['kind'], string[]>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    parseLine(line, tokens).match(
      (token) => void tokens.push(token),
      ({ kind, word }) => {
        const place = word === undefined ? `${index + 1}` : `${index + 1} (word ${word})`;
        invalid.set(kind, [...(invalid.get(kind) ?? []), place]);
      },
    );
  }
  if (invalid.size > 0) {
    const reason = [...invalid].map(([kind, lines]) => faults[kind].replace('$', listLines(lines)));
    return err(reason.join('; it '));
  }
  return tokens.length === 0 ? err('has no token: write one per line') : ok(tokens);
};
