import type { FetchResponse } from './options.ts';
import { sleep } from './timeout.ts';
import { ignoreErrors, isFunction, memberOf } from './untrusted.ts';

/** Number of chunks to read before timers and other work can run. */
const chunksPerTurn = 1000;

/**
 * Reads the body of a response as text until it ends or has more than `maxLength` characters.
 * Bytes that are not UTF-8 become U+FFFD. Returns `undefined` if an injected `fetch` has read the
 * body, or is reading it. Rejects if the body fails. When `signal` aborts, as at the end of each
 * attempt, the body is cancelled and unlocked.
 */
export async function readText(
  response: FetchResponse,
  decoder: InstanceType<typeof TextDecoder>,
  signal: AbortSignal,
  maxLength: number,
): Promise<string | undefined> {
  const { body, bodyUsed } = response;
  if (bodyUsed === true || memberOf(body, 'locked') === true) return undefined;
  // Not every browser can iterate over a web stream.
  const chunks = isStream(body) ? iterate(body, signal) : body;
  // An opaque redirect has no body, and an old fetch no stream.
  if (!isAsyncIterable(chunks)) return decoder.decode(await response.arrayBuffer());
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const part = decoder.decode(chunk, { stream: true });
    parts.push(part);
    length += part.length;
    if (length > maxLength || signal.aborted) break;
    if (parts.length > chunksPerTurn) {
      // One text, because a part of one character takes more memory than the character.
      parts = [parts.join('')];
      await sleep(0, signal);
    }
  }
  parts.push(decoder.decode());
  return parts.join('');
}

/** Yields the chunks of a web stream. When `signal` aborts, cancels and unlocks the stream. */
async function* iterate(stream: Stream, signal: AbortSignal): Chunks {
  const reader = await stream.getReader();
  signal.addEventListener('abort', () => {
    void ignoreErrors(() => reader.cancel());
    void ignoreErrors(() => reader.releaseLock());
  });
  while (!signal.aborted) {
    const { done, value } = await reader.read();
    if (done) return;
    // Also `undefined`, so that the reader counts every chunk and lets timers run.
    yield value;
  }
}

/** Cancels a web stream that is not read. */
export function cancelBody({ body }: FetchResponse): void {
  if (isStream(body)) void ignoreErrors(() => body.cancel());
}

/** The chunks of a body; `undefined` from a stream that breaks its rules. */
type Chunks = AsyncIterable<Uint8Array | undefined>;

/** What is used of a web stream. The functions of an injected fetch may be async. */
type Stream = {
  readonly getReader: () => Reader | Promise<Reader>;
  readonly cancel: () => unknown;
};
type Reader = {
  readonly read: () => Promise<{ readonly done?: boolean; readonly value?: Uint8Array }>;
  readonly cancel: () => unknown;
  readonly releaseLock: () => unknown;
};

function isStream(body: unknown): body is Stream {
  return isFunction(memberOf(body, 'getReader'));
}

function isAsyncIterable(body: unknown): body is Chunks {
  return isFunction(memberOf(body, Symbol.asyncIterator));
}
