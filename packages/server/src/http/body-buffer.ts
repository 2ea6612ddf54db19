/** Collects a body in one buffer, because an array of one-byte chunks takes hundreds of bytes per chunk. */
export type BodyBuffer = {
  /** Copies a chunk. Returns `false`, and discards the body, if the body exceeds its limit. */
  readonly add: (chunk: Uint8Array) => boolean;
  /** Returns the bytes collected so far. */
  readonly bytes: () => Uint8Array;
};

const empty = new Uint8Array(0);

/** Creates a buffer for a body of at most `limit` bytes. It takes at most twice the size of the body. */
export const createBodyBuffer = (limit: number): BodyBuffer => {
  let buffer: Uint8Array = empty;
  let size = 0;
  return {
    add(chunk) {
      const newSize = size + chunk.byteLength;
      if (newSize > limit) {
        buffer = empty;
        size = 0;
        return false;
      }
      if (size === 0) {
        // Most bodies are one chunk, which needs no copy.
        buffer = chunk;
      } else {
        if (newSize > buffer.byteLength) {
          const larger = new Uint8Array(Math.min(limit, 2 * newSize));
          larger.set(buffer.subarray(0, size));
          buffer = larger;
        }
        buffer.set(chunk, size);
      }
      size = newSize;
      return true;
    },
    bytes: () => buffer.subarray(0, size),
  };
};
