import { ok } from 'neverthrow';
import { type Call, fail, type Outcome } from './call.ts';
import { type ErrorName, errorNames } from './error-names.ts';
import { redact } from './redactor.ts';
import { undefinedOnThrow } from './untrusted.ts';

const strictUtf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

type Members = { readonly [Name in 'name' | 'tag' | 'error' | 'message']: unknown };

/** Own members, so that those of a prototype are not read. */
const noMembers: Members = {
  name: undefined,
  tag: undefined,
  error: undefined,
  message: undefined,
};

const isInt32 = (value: unknown): value is number => typeof value === 'number' && value === ~~value;

/**
 * Returns the outcome for a response, of whose body only the first `maxBytes` bytes count. The token is
 * redacted in errors, not in a plant.
 */
export const readResponse = (
  call: Call,
  status: number,
  body: Uint8Array,
  maxBytes: number,
): Outcome => {
  const isTruncated = body.length > maxBytes;
  const bytes = isTruncated ? body.subarray(0, maxBytes) : body;
  const content = undefinedOnThrow((): unknown => JSON.parse(strictUtf8.decode(bytes)));
  const { name, tag, error, message } = { ...noMembers, ...Object(content) } as Members;
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
      message: redact(call.tokens, message),
    });
  }
  return fail(call, {
    kind: status === 200 || status === 400 ? 'response-invalid' : 'unexpected-status',
    message: `unexpected response with status ${status}`,
    body: redact(call.tokens, new TextDecoder().decode(bytes), isTruncated),
  });
};
