import { withoutId } from '@plantstore/core/wire';
import { ok } from 'neverthrow';
import { type Call, fail, type Outcome } from './call.ts';
import { type ErrorName, errorNames } from './error-names.ts';
import type { Plant } from './plant.ts';
import { redact } from './redactor.ts';
import { undefinedOnThrow } from './untrusted.ts';

type Members = { readonly [Name in keyof Plant | 'error' | 'message']: unknown };

const isText = (value: unknown): value is string => typeof value === 'string';

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/** Returns the members of an object in JSON, without a prototype, whose members are not those of the text. */
const membersOf = (text: string): Members =>
  Object.setPrototypeOf(Object(undefinedOnThrow((): unknown => JSON.parse(text))), null) as Members;

/** Returns a member that is not what was sent: a cache or a proxy may return another plant, and an older server lacks a member. */
const findDifference = (sent: Plant, plant: Plant): string | undefined => {
  const names = Object.keys({ ...sent, ...plant, name: '' }) as (keyof Plant)[];
  return names.find((name) => !isText(plant[name]) || plant[name] !== sent[name]);
};

/**
 * Returns the outcome for the text of a response. A plant must be the one of `sent`, the body of the request.
 * In errors, the text is truncated, and the token is redacted.
 */
export const readResponse = (call: Call, status: number, sent: string, text: string): Outcome => {
  const members = membersOf(text);
  const { error, message } = members;
  let problem = `unexpected response with status ${status}`;
  if (status === 200) {
    const plant = withoutId(members as Plant);
    const difference = findDifference(withoutId(membersOf(sent) as Plant), plant);
    if (difference === undefined) return ok(plant);
    problem += `: its ${difference} is not what was sent`;
  }
  if (status >= 400 && isInt32(error) && isText(message)) {
    const known: ErrorName | undefined = errorNames[error as keyof typeof errorNames];
    return fail(call, {
      kind: 'refused',
      name: known ?? (~~(error / 1000) === 4 ? 'plant-refused' : 'unknown'),
      error,
      message: redact(call.tokens, message),
    });
  }
  return fail(call, {
    kind: status === 200 || status === 400 ? 'response-invalid' : 'unexpected-status',
    message: problem,
    body: redact(call.tokens, text),
  });
};
