import type { FetchResponse } from './client-options.ts';
import { ignoreErrors, nextTurn } from './lenient.ts';

/** How many chunks are read before timers and other work run. */
const chunksPerTurn = 1000;

/**
 * Reads a response's body until it ends or has more than `longest` bytes. Rejects with whatever goes
 * wrong; the body is then cancelled and unlocked, as it is when `signal` aborts or it is too long.
 */
export const readBytes = async (
  response: FetchResponse,
  signal: AbortSignal,
  longest: number,
): Promise<Uint8Array> => {
  const body = response.body as ReadableStream<Uint8Array> | null | undefined;
  // An opaque redirect has no body, and some injected fetches have no web stream.
  if (typeof body?.getReader !== 'function')
    // A DataView refuses a value that is not a buffer, which an array of bytes would take for its length.
    return new Uint8Array(new DataView(await response.arrayBuffer()).buffer);
  const reader = body.getReader();
  // A fake reader may be a promise that rejects.
  void ignoreErrors(() => reader);
  const cancel = () => void ignoreErrors(() => reader.cancel());
  signal.addEventListener('abort', cancel);
  // One buffer, because a chunk of one byte takes hundreds of bytes if it is kept.
  let bytes: Uint8Array = new Uint8Array();
  let size = 0;
  let isOver = false;
  try {
    for (let reads = 1; size <= longest && !signal.aborted; reads += 1) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) break;
      if (!(value.byteLength >= 0)) throw new TypeError('a chunk of the body is not bytes');
      const start = size;
      size += value.byteLength;
      // Most bodies are one chunk, which needs no copy.
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
    if (!isOver) cancel();
    void ignoreErrors(() => reader.releaseLock());
  }
  return bytes.subarray(0, size);
};
