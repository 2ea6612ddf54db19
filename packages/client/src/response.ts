import { isRequired } from '@plantstore/core/wire';
import { ok } from 'neverthrow';
import { type CallState, type ErrorName, errorNames, fail, type Outcome } from './errors.ts';
import type { FetchResponse } from './options.ts';
import { contentNames, type NewPlant, type Plant } from './plant.ts';
import { redact } from './redact.ts';
import { withTimeout } from './timeout.ts';
import { ignoreErrors, isText, undefinedOnThrow } from './untrusted.ts';

/**
 * Returns the outcome for the text of a response. A plant must be the one of `sent`, the body of the request.
 * In errors, the text is truncated, and the token is redacted.
 */
export function readResponse(
  call: CallState,
  { status, redirected }: Pick<FetchResponse, 'status' | 'redirected'>,
  sent: string,
  text: string,
  location?: string | null,
): Outcome {
  const members = membersOf(text);
  const { error, message } = members;
  let problem = `unexpected response with status ${status}`;
  if (location) problem += ` to ${location}`;
  if (status === 200) {
    const { id: _, ...plant } = membersOf(sent);
    // An injected fetch may follow redirects in spite of `redirect: 'manual'`.
    const difference = redirected ? 'URL' : findDifference(plant, members);
    if (!difference) return ok(plant as Plant);
    problem += `: its ${difference} is not what was sent`;
  }
  if (status >= 400 && typeof error === 'number' && error === ~~error && isText(message)) {
    const known: ErrorName | undefined = errorNames[error as keyof typeof errorNames];
    return fail(call, 'refused', redact(call.tokens, message), {
      name: known ?? (error > 3999 && error < 5000 ? 'plant-refused' : 'unknown'),
      error,
    });
  }
  const kind = status === 200 || status === 400 ? 'response-invalid' : 'unexpected-status';
  return fail(call, kind, problem, { body: redact(call.tokens, text) });
}

type Members = { readonly [Name in keyof NewPlant | 'error' | 'message']?: unknown };

/** Returns the members of an object in JSON. */
const membersOf = (text: string): Members =>
  Object(undefinedOnThrow((): unknown => JSON.parse(text))) as Members;

/** Returns a member that is not what was sent: a cache or a proxy may return another plant, and an older server lacks a member. */
const findDifference = (sent: Members, members: Members): string | undefined =>
  contentNames.find(
    (name) =>
      members[name] !== sent[name] || (!isText(sent[name]) && (name in sent || isRequired[name])),
  );

/** Number of chunks to read before timers and other work can run. */
const chunksPerTurn = 1000;

type Chunk = { readonly done?: boolean; readonly value?: Uint8Array<ArrayBuffer> };

/** The reader of a web stream, or an async iterator. The functions of an injected fetch may be async. */
type Reader = {
  readonly read?: () => Promise<Chunk>;
  readonly next: () => Promise<Chunk>;
  readonly cancel?: () => unknown;
  readonly return?: () => unknown;
  readonly releaseLock?: () => unknown;
};
type Body = {
  readonly getReader?: () => Reader | Promise<Reader>;
  readonly [Symbol.asyncIterator]?: () => Reader;
};

/**
 * Reads the body of a response as text until it ends or has more than `maxLength` characters. Bytes that are
 * not UTF-8 become U+FFFD. Rejects if the body fails. When `signal` aborts, as at the end of each attempt, the body is
 * cancelled and unlocked.
 */
export const readText = async (
  response: FetchResponse,
  signal: AbortSignal,
  maxLength: number,
): Promise<string> => {
  const decoder = new TextDecoder();
  const body = response.body as Body | null | undefined;
  // The body of an injected fetch may not be a web stream, and not every browser can iterate over one.
  const reader = (await body?.getReader?.()) ?? body?.[Symbol.asyncIterator]?.();
  // An opaque redirect has no body.
  if (!reader) return decoder.decode(await response.arrayBuffer());
  signal.addEventListener('abort', () => {
    void ignoreErrors(() => (reader.cancel ?? reader.return)?.call(reader));
    void ignoreErrors(() => reader.releaseLock?.());
  });
  let chunk: Chunk = {};
  let length = 0;
  let parts: string[] = [];
  while (!chunk.done && length <= maxLength && !signal.aborted) {
    chunk = await (reader.read ?? reader.next).call(reader);
    const part = decoder.decode(chunk.value, { stream: !chunk.done });
    length += part.length;
    if (parts.push(part) > chunksPerTurn) {
      // One text, because a part of one character takes more memory than the character.
      parts = [parts.join('')];
      await withTimeout<void>(signal, 0);
    }
  }
  return parts.join('');
};
