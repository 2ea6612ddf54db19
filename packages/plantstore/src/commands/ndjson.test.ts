import { memoryInUse } from '@plantstore/test-support/memory';
import { expect, it } from 'vitest';
import { readLines } from './ndjson.ts';

it('lines that are too long take no more memory than the maximum', async () => {
  const before = memoryInUse();
  let added = 0;
  async function* chunks() {
    for (let count = 0; count < 200; count += 1) {
      yield Buffer.alloc(2 ** 20, 'x');
      // The first collection can be the end of one that began earlier.
      if (count % 50 === 49)
        added = Math.max(added, Math.min(memoryInUse(), memoryInUse()) - before);
    }
    yield Buffer.from('\nlast');
  }
  const found: [number, boolean][] = [];
  for await (const lines of readLines(chunks(), 4 * 2 ** 20)) {
    for (const { number, bytes } of lines) found.push([number, bytes !== undefined]);
  }
  expect(found).toEqual([
    [1, false],
    [2, true],
  ]);
  expect(added).toBeLessThan(20 * 2 ** 20);
});
