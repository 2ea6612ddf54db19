import type { FetchResponse } from './client-options.ts';
import { ignoreErrors, nextTurn } from './untrusted.ts';

/** Number of chunks to read before timers and other work can run. */
const chunksPerTurn = 1000;

/** A reader, and the reader of an injected fetch, whose functions may be async. */
type Reader = {
  readonly read: () => Promise<IteratorResult<Uint8Array, unknown>>;
  readonly cancel: () => unknown;
  readonly releaseLock: () => unknown;
};
type Body = { readonly getReader?: () => Reader | Promise<Reader> };

const nothing: Uint8Array = /* @__PURE__ */ new Uint8Array();

/**
 * Reads the body of a response until it ends or has more than `maxBytes` bytes. Rejects if the body fails.
 * If it fails or is too long, or if `signal` aborts, the body is cancelled and unlocked.
 */
export const readBytes = async (
  response: FetchResponse,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array> => {
  const body = response.body as Body | null | undefined;
  // An opaque redirect has no body, and the body of an injected fetch may not be a web stream.
  if (typeof body?.getReader !== 'function')
    // DataView throws for a value that is not a buffer; Uint8Array would take a number as its length.
    return new Uint8Array(new DataView(await response.arrayBuffer()).buffer);
  const reader = await body.getReader();
  const cancel = () => {
    void ignoreErrors(() => reader.cancel());
    void ignoreErrors(() => reader.releaseLock());
  };
  signal.addEventListener('abort', cancel);
  // One buffer, because keeping a chunk of one byte takes hundreds of bytes of memory.
  let bytes = nothing;
  let size = 0;
  let isDone: boolean | undefined;
  try {
    for (let reads = 1; size <= maxBytes && !signal.aborted; reads += 1) {
      const { done, value } = await reader.read();
      isDone = done;
      if (done) break;
      if (!(value.byteLength >= 0)) throw new TypeError('a chunk of the body is not bytes');
      const start = size;
      size += value.byteLength;
      // Most bodies are a single chunk, which needs no copy.
      if (start === 0) bytes = value;
      else {
        if (size > bytes.length) {
          const larger = new Uint8Array(2 * size);
          larger.set(bytes);
          bytes = larger;
        }
        bytes.set(value, start);
      }
      if (reads % chunksPerTurn === 0) await nextTurn();
    }
  } finally {
    if (!isDone) cancel();
  }
  return bytes.subarray(0, size);
};
