import type { NewPlant } from '@plantstore/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FormatName, formatNames } from './command.ts';
import { formats } from './formats.ts';
import { readRecords } from './read-records.ts';

// Every code point that the store can keep, and often those that have a meaning in CSV or JSON.
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('"', ',', '\n', '\r', '\r\n', ' ', '\t', '\ufeff', '\u2028', '\\', 'a'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((one) => one !== '\0'),
    ),
  })
  .map((one) => one.toWellFormed());
const plant = fc.record(
  { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: text, tag: text },
  { requiredKeys: ['id', 'name'], noNullPrototype: true },
);

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const readAll = async (name: FormatName, chunks: AsyncIterable<Buffer>): Promise<NewPlant[]> => {
  const { header, createScan, createDecode } = formats[name];
  const fields = [];
  for await (const records of readRecords(chunks, createScan())) {
    for (const record of records) fields.push(record.fields._unsafeUnwrap());
  }
  const decode = createDecode(header === '' ? [] : fields.shift()!)!;
  return fields.map((one) => decode(one)._unsafeUnwrap());
};

it.each(formatNames)(
  'the format %s keeps every plant, however its bytes are split',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(plant), fc.integer({ min: 1, max: 40 }), async (plants, size) => {
        const { header, encode } = formats[name];
        const bytes = Buffer.from(header + plants.map(encode).join(''));
        expect(await readAll(name, inChunks(bytes, size))).toEqual(plants);
      }),
      { numRuns: 300 },
    );
  },
);

it('import reads ids of CSV exactly', () => {
  const decode = formats.csv.createDecode(['name', 'id'])!;
  const idOf = (id: string) =>
    decode(['Monstera', id]).match(
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
  // The first 19 digits are a valid id.
  expect(idOf(`${2n ** 63n - 1n}0`)).toMatch(/^id /);
  expect(idOf(`${-(2n ** 63n)}0`)).toMatch(/^id /);
});

it.each([
  [['id', 'tag']],
  [['name', 'tag']],
  [['id', 'name', 'tag', 'name']],
  [['id', 'name', 'tag', 'tag']],
  [['ID', 'name']],
])('import refuses the CSV header %j', (header) => {
  expect(formats.csv.createDecode(header)).toBe(undefined);
});

it('import ignores columns of CSV with other names', () => {
  const decode = formats.csv.createDecode(['', 'tag', 'note', 'name', 'id', 'note'])!;
  const decoded = decode(['a', undefined, 'b', 'Monstera', '7', 'c']);
  expect(decoded._unsafeUnwrap()).toEqual({ id: 7n, name: 'Monstera' });
});

it('export quotes CR, LF, quotes and commas in CSV, and empty text', () => {
  const texts = ['a\rb', 'a\nb', 'a"b', 'a,b', '', ' a '];
  expect(texts.map((name) => formats.csv.encode({ id: 1n, name }))).toEqual(
    ['"a\rb"', '"a\nb"', '"a""b"', '"a,b"', '""', ' a '].map((field) => `1,${field},\r\n`),
  );
});
