import { orUndefined, readMember } from './lenient.ts';
import type { Redact } from './redactor.ts';

/** What was thrown, as plain data without the token: at most four causes deep. */
export type CauseDescription = {
  /** Such as `TypeError`; of a value that is not an error, its type. */
  readonly name: string;
  /** The error's message, or the value as text. */
  readonly message: string;
  /** Such as `ECONNREFUSED`, where there is one. */
  readonly code?: string;
  /** The error's `cause`, or the last of an `AggregateError`'s errors, where there is one. */
  readonly cause?: CauseDescription;
};

/** Describes any thrown value, hostile ones included. */
export const describeCause = (thrown: unknown, redact: Redact, depth = 4): CauseDescription => {
  const textOf = (key: string): string | undefined => {
    const value = readMember(thrown, key);
    return typeof value === 'string' ? redact(value) : undefined;
  };
  const code = textOf('code');
  const errors = readMember(thrown, 'errors');
  const cause =
    readMember(thrown, 'cause') ??
    readMember(errors, `${Number(readMember(errors, 'length')) - 1}`);
  return {
    name: textOf('name') ?? typeof thrown,
    message:
      textOf('message') ?? redact(orUndefined(() => String(thrown)) ?? 'a value without text'),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && depth > 1 && { cause: describeCause(cause, redact, depth - 1) }),
  };
};

/** Returns the message of the innermost cause that has one. */
export const innermostMessage = ({ message, cause }: CauseDescription): string => {
  const innermost = cause ? innermostMessage(cause) : '';
  return innermost === '' ? message : innermost;
};
