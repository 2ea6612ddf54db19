import { ok } from 'neverthrow';
import { type Call, fail, type Outcome } from './call.ts';
import { type ErrorName, errorNames } from './error-names.ts';
import { redact } from './redactor.ts';
import { undefinedOnThrow } from './untrusted.ts';

type Members = { readonly [Name in 'name' | 'tag' | 'error' | 'message']: unknown };

/** Own members, so that those of a prototype are not read. */
const noMembers: Members = {
  name: undefined,
  tag: undefined,
  error: undefined,
  message: undefined,
};

const membersOf = (json: string): Members => {
  const content = undefinedOnThrow((): unknown => JSON.parse(json));
  return { ...noMembers, ...Object(content) } as Members;
};

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/**
 * Returns the outcome for the text of a response. A plant must be the one that was sent. In errors, the token
 * is redacted, and the text is truncated to `maxLength` characters.
 */
export const readResponse = (
  call: Call,
  status: number,
  sentJson: string,
  text: string,
  maxLength: number,
): Outcome => {
  const { name, tag, error, message } = membersOf(text);
  if (status === 200) {
    // A cache or a proxy may return the response for another plant, or with damaged text.
    const sent = membersOf(sentJson);
    if (typeof name === 'string' && name === sent.name && tag === sent.tag) {
      if (tag === undefined) return ok({ name });
      if (typeof tag === 'string') return ok({ name, tag });
    }
  }
  if (status >= 400 && isInt32(error) && typeof message === 'string') {
    const known: ErrorName | undefined = errorNames[error as keyof typeof errorNames];
    return fail(call, {
      kind: 'refused',
      name: known ?? 'unknown',
      error,
      message: redact(call.tokens, message),
    });
  }
  return fail(call, {
    kind: status === 200 || status === 400 ? 'response-invalid' : 'unexpected-status',
    message: `unexpected response with status ${status}`,
    body: redact(call.tokens, text, maxLength),
  });
};
