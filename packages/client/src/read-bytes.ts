import { nextTurn, quietly } from './safely.ts';

/** How many chunks may come without letting timers and other work have their turn. */
const chunksPerTurn = 1000;

/**
 * Reads a response's body until it ends or more than `longest` bytes are there. Whatever goes wrong is
 * thrown; the body is then cancelled and unlocked, as it is when `signal` aborts or too much comes.
 */
export const readBytes = async (
  response: Response,
  signal: AbortSignal,
  longest: number,
): Promise<Uint8Array> => {
  const { body } = response;
  // An opaque redirect has no body, and some injected fetches have no web stream.
  if (typeof body?.getReader !== 'function')
    // A DataView takes no garbage for a length, as an array of bytes would.
    return new Uint8Array(new DataView(await response.arrayBuffer()).buffer);
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const cancel = () => void quietly(() => reader.cancel());
  signal.addEventListener('abort', cancel);
  // One buffer, because a chunk of one byte takes hundreds of bytes if it is kept.
  let bytes = new Uint8Array(1024);
  let size = 0;
  try {
    for (let reads = 1; size <= longest && !signal.aborted; reads += 1) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!(value.byteLength >= 0)) throw new TypeError('what came is no bytes');
      const start = size;
      size += value.byteLength;
      if (size > bytes.length) {
        const larger = new Uint8Array(2 * size);
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(value, start);
      if (reads % chunksPerTurn === 0) await nextTurn();
    }
  } finally {
    cancel();
    reader.releaseLock();
  }
  return bytes.subarray(0, size);
};
