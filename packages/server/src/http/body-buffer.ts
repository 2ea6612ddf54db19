/**
 * Collects a body of at most `limit` bytes in one buffer of at most twice its size, because an
 * array of one-byte chunks takes many times that.
 */
export class BodyBuffer {
  private readonly limit: number;
  private buffer: Uint8Array = empty;
  private size = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds a chunk. Returns `false`, and adds nothing, if the body would exceed its limit. */
  add(chunk: Uint8Array): boolean {
    const newSize = this.size + chunk.byteLength;
    if (newSize > this.limit) return false;
    // Most bodies are one chunk, which needs no copy.
    if (this.size === 0) this.buffer = chunk;
    else if (newSize > this.buffer.byteLength) {
      const larger = new Uint8Array(Math.min(this.limit, 2 * newSize));
      larger.set(this.bytes());
      this.buffer = larger;
    }
    if (this.size > 0) this.buffer.set(chunk, this.size);
    this.size = newSize;
    return true;
  }

  /** Returns the bytes collected so far. */
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.size);
  }
}

const empty: Uint8Array = new Uint8Array(0);
