import { ok } from 'neverthrow';
import { type Call, fail, type Outcome } from './call.ts';
import { type ErrorName, errorNames } from './error-names.ts';
import { orUndefined } from './lenient.ts';

/** A response, whose body is cut off after the first `longest` bytes. */
export type Answer = {
  readonly status: number;
  readonly body: Uint8Array;
  readonly longest: number;
};

const strictUtf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/** Returns what a response means by the contract. A plant may contain the token's text, an error may not. */
export const readAnswer = (call: Call, { status, body, longest }: Answer): Outcome => {
  const bytes = body.subarray(0, longest);
  const content = orUndefined((): unknown => JSON.parse(strictUtf8.decode(bytes)));
  // A member of a prototype is not a member of JSON.
  const { name, tag, error, message } = { __proto__: null, ...Object(content) } as {
    readonly [key: string]: unknown;
  };
  if (status === 200 && typeof name === 'string') {
    if (tag === undefined) return ok({ name });
    if (typeof tag === 'string') return ok({ name, tag });
  }
  if (status >= 400 && isInt32(error) && typeof message === 'string') {
    const known: ErrorName | undefined = errorNames[error as keyof typeof errorNames];
    return fail(call, {
      kind: 'refused',
      name: known ?? 'unknown',
      error,
      message: call.redact(message),
    });
  }
  return fail(call, {
    kind: status === 200 || status === 400 ? 'response-invalid' : 'unexpected-status',
    message: `unexpected response with status ${status}`,
    body: call.redact(new TextDecoder().decode(bytes), body.length > longest),
  });
};
