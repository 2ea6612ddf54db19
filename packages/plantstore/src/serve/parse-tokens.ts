import { isBearerToken } from '@plantstore/core/wire';
import type { AcceptedToken } from '@plantstore/server';
import { err, ok, type Result } from 'neverthrow';

/** Parses a tokens file. The error contains no part of a line, because that may be a token. */
export function parseTokens(file: Buffer): Result<readonly AcceptedToken[], string> {
  const text = file.toString('utf8');
  if (text.includes('\0')) return err('is not UTF-8, but UTF-16, for example: save it as UTF-8');
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
}

const faults = {
  unseen: 'has an invisible character, or text that is not UTF-8, in line $: write the line again',
  token:
    'has no bearer token in line $: a line begins with a token (letters, digits and -._~+/, with = at its end only)',
  word: 'has an unknown or repeated word in line $: a token is followed by name=NAME and until=DATE only, each at most once',
  name: 'has an invalid name in line $: a name is 1 to 32 letters, digits and -._',
  until: 'has an invalid date in line $: a date is the last valid day, such as 2027-01-31',
  repeated: 'has a token of an earlier line with another name or date in line $: keep one of them',
} as const;

/** What is wrong with a line; `word` is the number of the wrong one, from 1. */
type Fault = { readonly kind: keyof typeof faults; readonly word?: number };

/** What may follow a token, in any order. */
const wordForm = /^(name|until)=(.*)$/;
const nameForm = /^[\w.-]{1,32}$/;

function parseLine(line: string, earlier: readonly AcceptedToken[]): Result<AcceptedToken, Fault> {
  if (/[\p{Cf}\ufffd]/u.test(line)) return err({ kind: 'unseen' });
  const [token = '', ...words] = line.split(/\s+/);
  if (!isBearerToken(token)) return err({ kind: 'token' });
  const values = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const [, key = '', value = ''] = wordForm.exec(word) ?? [];
    // The token is the first word.
    if (key === '' || values.has(key)) return err({ kind: 'word', word: index + 2 });
    values.set(key, value);
  }
  const name = values.get('name');
  if (name !== undefined && !nameForm.test(name)) return err({ kind: 'name' });
  const until = values.get('until');
  const endsAt = until === undefined ? undefined : endOf(until);
  if (until !== undefined && endsAt === undefined) return err({ kind: 'until' });
  const isContradicted = earlier.some(
    (other) => other.token === token && (other.name !== name || other.endsAt !== endsAt),
  );
  if (isContradicted) return err({ kind: 'repeated' });
  return ok({
    token,
    ...(name !== undefined && { name: copyOf(name) }),
    ...(endsAt !== undefined && { endsAt }),
  });
}

const dateForm = /^\d{4}-\d\d-\d\d$/;
const dayMs = 86_400_000;

/** Returns the end of a day in UTC, or `undefined` for an invalid date. */
function endOf(date: string): number | undefined {
  const start = dateForm.test(date) ? Date.parse(date) : Number.NaN;
  // Some engines parse the 30th of February as a day in March.
  const isDate = !Number.isNaN(start) && new Date(start).toISOString().startsWith(date);
  return isDate ? start + dayMs : undefined;
}

/** Copies a string, because a substring keeps the whole file with its tokens in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

const maxNamedLines = 5;

function listLines(lines: readonly string[]): string {
  const others = lines.length - maxNamedLines;
  const named = lines.slice(0, maxNamedLines).join(', ');
  return others > 0 ? `${named} and ${others} more` : named;
}
