import type { Plant } from '@plantstore/core';
import { errorNameOf } from '@plantstore/core/errors';
import { err, ok, Result } from 'neverthrow';
import type { Refused, ResponseInvalid, UnexpectedStatus } from './create-plant-error.ts';
import type { Redact } from './describe-cause.ts';
import type { Answer } from './exchange.ts';
import { readMember } from './read-member.ts';

const parse = Result.fromThrowable((body: Uint8Array): unknown =>
  JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)),
);

/** A member of JSON; what a prototype may have is none of it. */
const ownMember = (content: unknown, key: string): unknown =>
  typeof content === 'object' && content !== null && Object.hasOwn(content, key)
    ? readMember(content, key)
    : undefined;

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/** What an answer means by the contract. A plant may contain the token's text, an error may not. */
export const readAnswer = (
  { status, body }: Answer,
  redact: Redact,
): Result<Plant, Refused | ResponseInvalid | UnexpectedStatus> => {
  const content = parse(body).unwrapOr(undefined);
  const [name, tag, error, message] = ['name', 'tag', 'error', 'message'].map((member) =>
    ownMember(content, member),
  );
  if (status === 200 && typeof name === 'string') {
    if (tag === undefined) return ok({ name });
    if (typeof tag === 'string') return ok({ name, tag });
  }
  const common = { status, attempts: 1 };
  if (status >= 400 && isInt32(error) && typeof message === 'string') {
    const known = errorNameOf(error) ?? 'unknown';
    return err({ kind: 'refused', name: known, error, message: redact(message), ...common });
  }
  const raw = { body: redact(new TextDecoder().decode(body)), ...common };
  return status === 200 || status === 400
    ? err({ kind: 'response-invalid', message: `the ${status} answer breaks the contract`, ...raw })
    : err({ kind: 'unexpected-status', message: `unexpected status ${status}`, ...raw });
};
