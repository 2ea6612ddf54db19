import { isBearerToken } from '@plantstore/core/wire';
import { type AcceptedToken, acceptedToken } from '../accept-tokens.ts';

/** The tokens of a file; or what is wrong with it, to follow its path in a sentence. */
export type ParsedTokens =
  | { readonly kind: 'parsed'; readonly tokens: readonly AcceptedToken[] }
  | { readonly kind: 'wrong'; readonly why: string };

/** A token, then at most one name and at most one end. */
const lineForm = /^(?<token>\S+)(?:\s+name=(?<name>\S*))?(?:\s+until=(?<until>\S*))?$/;
const nameForm = /^[\w.-]{1,32}$/;
const dateForm = /^\d{4}-\d\d-\d\d$/;

const dayMs = 86_400_000;

/** The first moment after a day, in UTC; `undefined` for what is no date. */
const endOf = (date: string): number | undefined => {
  const start = dateForm.test(date) ? Date.parse(date) : Number.NaN;
  // There is no 30th of February, which some engines read as one in March.
  const isDate = !Number.isNaN(start) && new Date(start).toISOString().startsWith(date);
  return isDate ? start + dayMs : undefined;
};

/** A text with memory of its own: a part of a text keeps the whole of it, here with tokens, in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString();

const faults = {
  token:
    'has no bearer token in line $: a line is a token (letters, digits and -._~+/, with = at its end only), and then name=NAME and until=DATE if it has them',
  name: 'has a wrong name in line $: a name is 1 to 32 letters, digits and -._',
  until: 'has a wrong date in line $: a date is a day such as 2027-01-31, which is the last one',
  repeated: 'has a token of an earlier line with another name or date in line $: keep one of them',
} as const;

type Fault = keyof typeof faults;

const parseLine = (line: string): AcceptedToken | Fault => {
  const { token, name, until } = lineForm.exec(line)?.groups ?? {};
  if (token === undefined || !isBearerToken(token)) return 'token';
  if (name !== undefined && !nameForm.test(name)) return 'name';
  const endsAt = until === undefined ? undefined : endOf(until);
  if (until !== undefined && endsAt === undefined) return 'until';
  return {
    ...acceptedToken(token),
    ...(name !== undefined && { name: copyOf(name) }),
    ...(endsAt !== undefined && { endsAt }),
  };
};

const isContradicted = (one: AcceptedToken, earlier: readonly AcceptedToken[]): boolean =>
  earlier.some(
    (other) =>
      other.digest.equals(one.digest) && (other.name !== one.name || other.endsAt !== one.endsAt),
  );

/** Parses a tokens file. No message has a part of a line, because that may be a token. */
export const parseTokens = (text: string): ParsedTokens => {
  const tokens: AcceptedToken[] = [];
  const wrong = new Map<Fault, number[]>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const parsed = parseLine(line);
    const fault =
      typeof parsed === 'string' ? parsed : isContradicted(parsed, tokens) ? 'repeated' : undefined;
    if (fault !== undefined) wrong.set(fault, [...(wrong.get(fault) ?? []), index + 1]);
    else if (typeof parsed !== 'string') tokens.push(parsed);
  }
  if (wrong.size > 0) {
    const why = [...wrong].map(([fault, lines]) => faults[fault].replace('$', lines.join(', ')));
    return { kind: 'wrong', why: why.join('; it ') };
  }
  return tokens.length === 0
    ? { kind: 'wrong', why: 'has no token: put in one a line' }
    : { kind: 'parsed', tokens };
};
