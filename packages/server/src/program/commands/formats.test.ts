import type { NewPlant } from '@plantstore/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FormatName, formatNames, formats } from './formats.ts';
import { splitRecords } from './split-records.ts';

const text = fc
  .string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', 'e\u0301', '🪴', ' ', '\u2028') })
  .map((one) => one.toWellFormed());
const plant = fc.record(
  { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: text, tag: text },
  { requiredKeys: ['id', 'name'], noNullPrototype: true },
);

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const readAll = async (name: FormatName, chunks: AsyncIterable<Buffer>): Promise<NewPlant[]> => {
  let { decode } = formats[name];
  let { readHeader } = formats[name];
  const plants: NewPlant[] = [];
  for await (const records of splitRecords(chunks, formats[name].hasQuotes)) {
    for (const { bytes } of records) {
      if (readHeader !== undefined) {
        decode = readHeader(bytes!)!;
        readHeader = undefined;
        continue;
      }
      plants.push(decode(bytes!)._unsafeUnwrap());
    }
  }
  return plants;
};

it.each(formatNames)('%s keeps every plant, however its bytes are split', async (name) => {
  await fc.assert(
    fc.asyncProperty(fc.array(plant), fc.integer({ min: 1, max: 40 }), async (plants, size) => {
      const { header, encode } = formats[name];
      const bytes = Buffer.from(header + plants.map(encode).join(''));
      expect(await readAll(name, inChunks(bytes, size))).toEqual(plants);
    }),
  );
});

it('reads ids of CSV exactly', () => {
  const decode = formats.csv.readHeader!(Buffer.from('name,id'))!;
  const idOf = (id: string) =>
    decode(Buffer.from(`Monstera,${id}`)).match(
      (decoded) => decoded.id,
      (fault) => fault,
    );
  expect(['-0', '007', '-123', '999999999999999', '9007199254740993'].map(idOf)).toEqual([
    0n,
    7n,
    -123n,
    999_999_999_999_999n,
    9_007_199_254_740_993n,
  ]);
  for (const id of ['1e3', '+1', ' 1', '1.0', '0x1', '-', '9223372036854775808', '9'.repeat(99)]) {
    expect(idOf(id)).toMatch(/^id /);
  }
});

it('skips a record that is longer than any plant without buffering it', async () => {
  const chunk = Buffer.alloc(2 ** 20, 'x');
  async function* chunks() {
    yield Buffer.from('first\n');
    for (let count = 0; count < 257; count += 1) yield chunk;
    yield Buffer.from('\nlast');
  }
  const found: [number, string | undefined][] = [];
  for await (const records of splitRecords(chunks(), false)) {
    for (const { line, bytes } of records) found.push([line, bytes?.toString()]);
  }
  expect(found).toEqual([
    [1, 'first'],
    [2, undefined],
    [3, 'last'],
  ]);
});
