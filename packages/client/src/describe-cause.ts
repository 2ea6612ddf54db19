import { undefinedOnThrow, readMember } from './untrusted.ts';
import { redact } from './redactor.ts';

/** Description of a thrown value, as plain data without the token; at most four causes deep. */
export type CauseDescription = {
  /** Name of the error, such as `TypeError`, or type of a value that is not an error. */
  readonly name: string;
  /** Message of the error, or the value as a string. */
  readonly message: string;
  /** Code of the error, such as `ECONNREFUSED`, if it has one. */
  readonly code?: string;
  /** Description of the error's `cause`, or of the last error of an `AggregateError`, if there is one. */
  readonly cause?: CauseDescription;
};

type Described = {
  readonly cause: CauseDescription;
  /** The message of the innermost cause that has a text as its message. */
  readonly innermost: string | undefined;
};

/** Describes any thrown value, also a proxy or getter that throws. */
export const describeCause = (thrown: unknown, tokens: readonly string[], depth = 4): Described => {
  const textOf = (key: string): string | undefined => {
    const value = readMember(thrown, key);
    return typeof value === 'string' ? redact(tokens, value) : undefined;
  };
  const code = textOf('code');
  const valueText = redact(
    tokens,
    undefinedOnThrow(() => String(thrown)) ?? 'a value without text',
  );
  const text = typeof thrown === 'string' ? valueText : textOf('message');
  const next =
    readMember(thrown, 'cause') ??
    undefinedOnThrow(() => (thrown as AggregateError).errors.at(-1) as unknown);
  const inner =
    next !== undefined && depth > 1 ? describeCause(next, tokens, depth - 1) : undefined;
  return {
    innermost: inner?.innermost ?? (text === '' ? undefined : text),
    cause: {
      name: textOf('name') ?? typeof thrown,
      message: text ?? valueText,
      ...(code !== undefined && { code }),
      ...(inner && { cause: inner.cause }),
    },
  };
};
