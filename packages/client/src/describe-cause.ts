import { readMember, safely } from './safely.ts';

/** What was thrown, as plain data without the token: at most four causes deep. */
export type CauseDescription = {
  /** Such as `TypeError`; of what is no error, its type. */
  readonly name: string;
  /** Its own words. */
  readonly message: string;
  /** Such as `ECONNREFUSED`, where there is one. */
  readonly code?: string;
  /** What caused it, where it says so. */
  readonly cause?: CauseDescription;
};

export type Redact = (text: string) => string;

/** A character as it is, or as JSON, a URL or HTML may escape it. */
const anyForm = (character: string): string => {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  return `(?:\\\\?\\x${hex}|(?:\\\\u00|%|&#x)${hex};?|&#${code};)`;
};

// An asterisk is in no b64token, so what is left around it never forms a token anew. The longest goes
// first: a shorter one may be a part of it.
export const redactorOf =
  (tokens: readonly string[]): Redact =>
  (text) =>
    tokens
      .toSorted((one, other) => other.length - one.length)
      .reduce(
        (left, token) => left.replace(new RegExp(token.replace(/./g, anyForm), 'gi'), '***'),
        text,
      );

/** Describes whatever was thrown; total, hostile values included. */
export const describeCause = (thrown: unknown, redact: Redact, depth = 4): CauseDescription => {
  const textOf = (key: string): string | undefined => {
    const value = readMember(thrown, key);
    return typeof value === 'string' ? redact(value) : undefined;
  };
  const code = textOf('code');
  const cause = depth > 1 ? readMember(thrown, 'cause') : undefined;
  return {
    name: textOf('name') ?? typeof thrown,
    message: textOf('message') ?? redact(safely(() => String(thrown)) ?? 'a value without a text'),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause: describeCause(cause, redact, depth - 1) }),
  };
};
