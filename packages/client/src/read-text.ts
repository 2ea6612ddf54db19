import type { FetchResponse } from './client-options.ts';
import { ignoreErrors, isFunction, nextTurn } from './untrusted.ts';

/** Number of chunks to read before timers and other work can run. */
const chunksPerTurn = 1000;

/** A reader, and the reader of an injected fetch, whose functions may be async. */
type Reader = {
  readonly read: () => Promise<{
    readonly done: boolean;
    readonly value?: Uint8Array<ArrayBuffer>;
  }>;
  readonly cancel: () => unknown;
  readonly releaseLock: () => unknown;
};
type Body = { readonly getReader?: () => Reader | Promise<Reader> };

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
