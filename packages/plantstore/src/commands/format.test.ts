import type { NewPlant } from '@plantstore/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FormatName, formatNames } from './command.ts';
import { inChunks } from '../../test/in-chunks.ts';
import { formats } from './format.ts';

// Every code point that the store can keep, and often those that have a meaning in CSV or JSON.
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', ',', '\n', '\r', '\r\n', ' ', '\t', '\ufeff', '\u2028', '\\', 'a'),
      fc.integer({ min: 1, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
    ),
  )
  .map((all) => all.join('').toWellFormed());
const plant = fc.record(
  { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: text, tag: text },
  { requiredKeys: ['id', 'name'], noNullPrototype: true },
);

/** Reads the plants of a file, and the reasons why the others are invalid or cannot be read. */
const readAll = async (name: FormatName, file: string | Buffer, { size = 64 } = {}) => {
  const found: (NewPlant | string)[] = [];
  const chunks = inChunks(Buffer.from(file), size);
  for await (const records of (await formats[name]()).read(chunks)) {
    if (records.isErr()) found.push(records.error);
    for (const { decoded } of records.unwrapOr([])) {
      found.push(
        decoded.match<NewPlant | string>(
          (one) => one,
          (reason) => reason,
        ),
      );
    }
  }
  return found;
};

it.each(formatNames)(
  'the format %s keeps every plant, however its bytes are split',
  async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(plant), fc.integer({ min: 1, max: 40 }), async (plants, size) => {
        const { header, encode } = await formats[name]();
        const encoded = plants.map((one) => ({ one, line: encode(one) }));
        const kept = encoded.filter(({ line }) => line.isOk());
        const file = header + kept.map(({ line }) => line._unsafeUnwrap()).join('');
        const keptPlants = kept.map(({ one }) => one);
        expect(await readAll(name, file, { size })).toEqual(keptPlants);
        const isCarried = (one: NewPlant) =>
          name === 'ndjson' || (one.name !== '' && one.tag !== '');
        expect(keptPlants).toEqual(plants.filter(isCarried));
      }),
      { numRuns: 100 },
    );
  },
);

it.each([
  ['ndjson', '{"id":1,"name":"a"}\n{"id":23,"name":"é"}'],
  ['csv', 'id,name,tag\r\n1,a,x\r\n23,"é\n",climber\n'],
] as const)(
  'no plant of a file of %s that was cut differs from those of the whole file',
  async (name, file) => {
    const bytes = Buffer.from(file);
    const whole = await readAll(name, bytes);
    for (let length = 1; length < bytes.length; length += 1) {
      const read = await readAll(name, bytes.subarray(0, length));
      const plants = read.filter((one) => typeof one !== 'string');
      expect(plants).toEqual(whole.slice(0, plants.length));
    }
  },
);

it('import reads ids of CSV exactly', async () => {
  const readIds = async (...ids: readonly string[]) => {
    const read = await readAll(
      'csv',
      ['name,id', ...ids.map((id) => `Monstera,${id}`), ''].join('\n'),
    );
    return read.map((one) => (typeof one === 'string' ? one : one.id));
  };
  expect(await readIds('-0', '007', '-123', '999999999999999', '9007199254740993')).toEqual([
    0n,
    7n,
    -123n,
    999_999_999_999_999n,
    9_007_199_254_740_993n,
  ]);
  const invalid = ['1e3', '+1', ' 1', '1.0', '0x1', '-', '9223372036854775808', '9'.repeat(99)];
  // The first 19 digits of these are a valid id.
  invalid.push(`${2n ** 63n - 1n}0`, `${-(2n ** 63n)}0`);
  for (const one of await readIds(...invalid)) expect(one).toMatch(/^id /);
});

it.each([
  [
    'id,tag\n',
    'the header, or the first record, cannot be read: the header must name each column once: ' +
      'id, name, tag (optional); it is "id,tag"',
  ],
  ['id;name\n1;a\n', 'it is "id;name"'],
  ['id,name\n1,a\n2,b,c\n', 'what follows line 2 cannot be read: Invalid Record Length'],
  ['id,name\r\n1,"a\r\nb"\r\n"2,c\r\n', 'what follows line 3 cannot be read: Quote Not Closed'],
  ['id,name\n1,a"b\n', 'Invalid Opening Quote'],
  ['id,name\n1,"a"b\n', 'Invalid Closing Quote'],
])('a file of CSV that is not as RFC 4180 is named by its line: %j', async (file, fault) => {
  expect((await readAll('csv', file)).at(-1)).toContain(fault);
});

const cut = 'no line end follows it, so the file may be cut: if it is complete, append a line end';
it.each([
  ['id,name,tag\n1,a,\n2,ivy,climb', [{ id: 1n, name: 'a' }, cut]],
  ['id,name\r\n1,"a\n"', [cut]],
  ['id,name', [`the header, or the first record, cannot be read: ${cut}`]],
  ['id,name\n1,a\r', [{ id: 1n, name: 'a' }]],
  ['id,name\n1,a\n\n', [{ id: 1n, name: 'a' }]],
  ['id,name\n', []],
])('the last record of CSV is refused if no line end follows it: %j', async (file, expected) => {
  for (const size of [1, 3, 64]) expect(await readAll('csv', file, { size })).toEqual(expected);
});

it('text of CSV that is not UTF-8 is refused', async () => {
  const file = Buffer.concat([Buffer.from('id,name\n1,'), Buffer.of(0xe9, 0x0a)]);
  expect(await readAll('csv', file)).toEqual([expect.stringContaining('not valid UTF-8')]);
});
