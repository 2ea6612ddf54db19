import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';

const chunksOf = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { minLength: 2 });

describe('body buffer', () => {
  it('a body buffer keeps the bytes of all chunks, in at most twice their size and at most the limit', () => {
    fc.assert(
      fc.property(chunksOf, fc.nat(50), (chunks, spare) => {
        const whole = Buffer.concat(chunks);
        const limit = whole.length + spare;
        const buffer = new BodyBuffer(limit);
        for (const chunk of chunks) expect(buffer.add(chunk)).toBe(true);
        expect(Buffer.from(buffer.bytes())).toEqual(whole);
        const kept = buffer.bytes().buffer.byteLength;
        expect(kept).toBeLessThanOrEqual(Math.min(2 * whole.length, limit));
      }),
    );
  });

  it('a body buffer copies rarely, however small the chunks are', () => {
    const buffer = new BodyBuffer(10_000);
    const memory = new Set<ArrayBufferLike>();
    for (let size = 0; size < 10_000; size += 1) {
      buffer.add(Uint8Array.of(32));
      memory.add(buffer.bytes().buffer);
    }
    // Doubling from 1 byte to 10,000 takes 14 steps.
    expect(memory.size).toBeLessThan(16);
  });

  it('a body buffer refuses a chunk that exceeds the limit, and discards the body', () => {
    for (const earlier of [0, 1, 9]) {
      const buffer = new BodyBuffer(10);
      if (earlier > 0) buffer.add(new Uint8Array(earlier));
      expect(buffer.add(new Uint8Array(11 - earlier))).toBe(false);
      expect(buffer.bytes().buffer.byteLength).toBe(0);
    }
  });

  it('a body buffer accepts a body of exactly the limit, and copies no single chunk', () => {
    const buffer = new BodyBuffer(10);
    const chunk = new Uint8Array(10);
    expect(buffer.add(chunk)).toBe(true);
    expect(buffer.bytes().buffer).toBe(chunk.buffer);
  });

  it('a body buffer is empty without chunks', () => {
    expect(new BodyBuffer(10).bytes()).toEqual(new Uint8Array());
  });
});
