import { ok } from 'neverthrow';
import { type Call, fail, type Outcome } from './call.ts';
import { type ErrorName, errorNames } from './error-names.ts';
import { redact } from './redactor.ts';
import { undefinedOnThrow } from './untrusted.ts';

type Members = { readonly [Name in 'name' | 'tag' | 'error' | 'message']?: unknown };

const isText = (value: unknown): value is string => typeof value === 'string';

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/**
 * Returns the outcome for the text of a response. A plant must be the one of `sent`, the body of the request.
 * In errors, the text is truncated, and the token is redacted.
 */
export const readResponse = (call: Call, status: number, sent: string, text: string): Outcome => {
  const content = undefinedOnThrow((): unknown => JSON.parse(text));
  // Without a prototype, whose members are not those of the response.
  const { name, tag, error, message } = Object.setPrototypeOf(Object(content), null) as Members;
  if (status === 200 && isText(name) && (tag === undefined || isText(tag))) {
    const plant = { name, ...(tag !== undefined && { tag }) };
    // A cache or a proxy may return the response for another plant, or with damaged text. The request is
    // the id and then the plant.
    if (sent.endsWith(JSON.stringify(plant).slice(1))) return ok(plant);
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
    message: `unexpected response with status ${status}`,
    body: redact(call.tokens, text),
  });
};
