import { withoutId } from '@plantstore/core/wire';
import { ok } from 'neverthrow';
import { type CallState, type ErrorName, errorNames, fail, type Outcome } from './errors.ts';
import type { FetchResponse } from './options.ts';
import type { Plant } from './plant.ts';
import { redact } from './redact.ts';
import { ignoreErrors, isFunction, nextTurn, undefinedOnThrow } from './untrusted.ts';

/**
 * Returns the outcome for the text of a response. A plant must be the one of `sent`, the body of the request.
 * In errors, the text is truncated, and the token is redacted.
 */
export function readResponse(call: CallState, status: number, sent: string, text: string): Outcome {
  const members = membersOf(text);
  const { error, message } = members;
  let problem = `unexpected response with status ${status}`;
  if (status === 200) {
    const plant = withoutId(members as Plant);
    const difference = findDifference(withoutId(membersOf(sent) as Plant), plant);
    if (difference === undefined) return ok(plant);
    problem += `: its ${difference} is not what was sent`;
  }
  if (status >= 400 && typeof error === 'number' && error === ~~error && isText(message)) {
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
}

type Members = { readonly [Name in keyof Plant | 'error' | 'message']: unknown };

/** Returns the members of an object in JSON, without a prototype, whose members are not those of the text. */
const membersOf = (text: string): Members => {
  const value = undefinedOnThrow((): unknown => JSON.parse(text));
  return Object.setPrototypeOf(Object(value), null) as Members;
};

/** Returns a member that is not what was sent: a cache or a proxy may return another plant, and an older server lacks a member. */
const findDifference = (sent: Plant, plant: Plant): string | undefined => {
  const names = Object.keys({ ...sent, ...plant, name: '' }) as (keyof Plant)[];
  return names.find((name) => !isText(plant[name]) || plant[name] !== sent[name]);
};

const isText = (value: unknown): value is string => typeof value === 'string';

/** Number of chunks to read before timers and other work can run. */
const chunksPerTurn = 1000;

type Chunk = { readonly done?: boolean; readonly value?: Uint8Array<ArrayBuffer> };

/** A reader, and the reader of an injected fetch, whose functions may be async. */
type Reader = {
  readonly read: () => Promise<Chunk>;
  readonly cancel: () => unknown;
  readonly releaseLock: () => unknown;
};
type Body = {
  readonly getReader?: () => Reader | Promise<Reader>;
};

/**
 * Reads the body of a response as text until it ends or has more than `maxLength` characters. Bytes that are
 * not UTF-8 become U+FFFD. Rejects if the body fails. If it fails or is too long, or if `signal` aborts, the
 * body is cancelled and unlocked.
 */
export const readText = async (
  response: FetchResponse,
  signal: AbortSignal,
  maxLength: number,
): Promise<string> => {
  const decoder = new TextDecoder();
  const body = response.body as Body | null | undefined;
  // The body of an injected fetch may not be a web stream, and not every browser can iterate over one.
  // An opaque redirect has no body, and the body of an injected fetch may not be a web stream.
  if (!isFunction(body?.getReader)) return decoder.decode(await response.arrayBuffer());
  const reader = await body.getReader();
  const cancel = () => {
    void ignoreErrors(() => reader.cancel());
    void ignoreErrors(() => reader.releaseLock());
  };
  signal.addEventListener('abort', cancel);
  let isDone: boolean | undefined;
  let length = 0;
  let parts: string[] = [];
  try {
    while (!isDone && length <= maxLength && !signal.aborted) {
      const { done, value } = await reader.read();
      isDone = done;
      const part = decoder.decode(value, { stream: !done });
      length += part.length;
      if (parts.push(part) > chunksPerTurn) {
        // One text, because a part of one character takes more memory than the character.
        parts = [parts.join('')];
        await nextTurn();
      }
    }
  } finally {
    if (!isDone) cancel();
  }
  return parts.join('');
};
