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

/** Returns a description of any thrown value, also of a proxy or getter that throws. */
export const describeCause = (
  thrown: unknown,
  tokens: readonly string[],
  depth = 4,
): CauseDescription => {
  const textOf = (key: string): string | undefined => {
    const value = readMember(thrown, key);
    return typeof value === 'string' ? redact(tokens, value) : undefined;
  };
  const code = textOf('code');
  const cause =
    readMember(thrown, 'cause') ??
    undefinedOnThrow(() => (thrown as AggregateError).errors.slice(-1)[0] as unknown);
  return {
    name: textOf('name') ?? typeof thrown,
    message:
      textOf('message') ??
      redact(tokens, undefinedOnThrow(() => String(thrown)) ?? 'a value without text'),
    ...(code !== undefined && { code }),
    ...(cause !== undefined && depth > 1 && { cause: describeCause(cause, tokens, depth - 1) }),
  };
};

/** Returns the message of the innermost cause that has a message. */
export const innermostMessage = ({ message, cause }: CauseDescription): string => {
  const innermost = cause ? innermostMessage(cause) : '';
  return innermost === '' ? message : innermost;
};
