import { memoryInUse } from '@plantstore/test-support/memory';
import { expect, it } from 'vitest';
import { inChunks } from '../../test/in-chunks.ts';
import { readLines } from './ndjson.ts';

const read = async (file: string, size: number, maxBytes = 100) => {
  const found: (readonly [number, string | undefined])[] = [];
  for await (const lines of readLines(inChunks(Buffer.from(file), size), maxBytes)) {
    found.push(...lines.map(({ number, bytes }) => [number, bytes?.toString()] as const));
  }
  return found;
};

it('all lines are read but those that are too long', async () => {
  const long = 'x'.repeat(20);
  const file = `first\n${long}\n${long}y\né${long}\nlast\n${long}${long}`;
  for (let size = 1; size < file.length; size += 1) {
    expect(await read(file, size, 20)).toEqual([
      [1, 'first'],
      [2, long],
      [3, undefined],
      [4, undefined],
      [5, 'last'],
      [6, undefined],
    ]);
  }
});

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
