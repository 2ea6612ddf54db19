import type { Redact } from './redactor.ts';
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
