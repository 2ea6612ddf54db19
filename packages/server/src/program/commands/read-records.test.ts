import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecords, type Scan, scanLine } from './read-records.ts';
import { createCsvScan } from './scan-csv.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

type Read = readonly [lines: string, fields: readonly (string | undefined)[] | string];

const read = async (
  file: string | Buffer,
  {
    scan = createCsvScan(),
    chunkSize = 2 ** 16,
    maxBytes,
  }: { scan?: typeof scanLine; chunkSize?: number; maxBytes?: number } = {},
): Promise<Read[]> => {
  const found: Read[] = [];
  const chunks = inChunks(Buffer.from(file), chunkSize);
  for await (const records of readRecords(chunks, scan, maxBytes)) {
    for (const { firstLine, lastLine, fields } of records) {
      found.push([
        firstLine === lastLine ? `${firstLine}` : `${firstLine}-${lastLine}`,
        fields.match(
          (all) => all,
          (reason) => reason,
        ),
      ]);
    }
  }
  return found;
};

const header: Read = ['1', ['id', 'name']];

describe('records of CSV', () => {
  it('a record of CSV ends with LF or CR LF, and the last may have no end', async () => {
    expect(await read('id,name\r\n1,a\n2,b\r\n3,"c"\n4,"d"\r\n5,e')).toEqual([
      header,
      ['2', ['1', 'a']],
      ['3', ['2', 'b']],
      ['4', ['3', 'c']],
      ['5', ['4', 'd']],
      ['6', ['5', 'e']],
    ]);
  });

  it('a record of CSV may have a quote as text anywhere but at the start of a field', async () => {
    expect(await read('id,name\n1,5" pot\n2,"6"" pot"\n3,a"b"\n4, "c"\n')).toEqual([
      header,
      ['2', ['1', '5" pot']],
      ['3', ['2', '6" pot']],
      ['4', ['3', 'a"b"']],
      ['5', ['4', ' "c"']],
    ]);
  });

  it('records of CSV keep CR, LF, commas, U+FEFF and spaces as they are', async () => {
    const expected = ['1', ' \ufeffa\rb '];
    expect(await read('id,name\n1, \ufeffa\rb \n')).toEqual([header, ['2', expected]]);
    expect(await read('id,name\n\ufeff1,a\r')).toEqual([header, ['2', ['\ufeff1', 'a\r']]]);
    expect(await read('id,name\n"1\r\n","a\r,\n\ufeff"\n2,b')).toEqual([
      header,
      ['2-4', ['1\r\n', 'a\r,\n\ufeff']],
      ['5', ['2', 'b']],
    ]);
  });

  it('a field of CSV that is empty without quotes is absent, and blank lines are ignored', async () => {
    expect(await read('\nid,name\n\r\n"",\n \t\n,""\n\n')).toEqual([
      ['2', ['id', 'name']],
      ['4', ['', undefined]],
      ['6', [undefined, '']],
    ]);
  });

  const unclosed = 'a quoted field is not closed';
  const misplaced = 'text follows a closing quote';
  const more = 'the record has more fields than the header';
  const fewer = 'the record has fewer fields than the header';
  const next = '; reading continues in line 3';

  it.each<[string, string, readonly Read[]]>([
    [
      'has no closing quote',
      '1,"a\n2,b\n3,c\n',
      [
        ['2-4', unclosed + next],
        ['3', ['2', 'b']],
        ['4', ['3', 'c']],
      ],
    ],
    [
      'has no closing quote in the last line',
      '1,a\n2,"b',
      [
        ['2', ['1', 'a']],
        ['3', unclosed],
      ],
    ],
    [
      'has text after a quote',
      '1,"a"b\n2,b\n',
      [
        ['2', misplaced],
        ['3', ['2', 'b']],
      ],
    ],
    [
      'has a CR after a quote',
      '1,"a"\rb\n2,b\n',
      [
        ['2', misplaced],
        ['3', ['2', 'b']],
      ],
    ],
    [
      'ends at the quote of another',
      '1,"a\n2,"b"\n3,c\n',
      [
        ['2-3', misplaced + next],
        ['3', ['2', 'b']],
        ['4', ['3', 'c']],
      ],
    ],
    [
      'has more fields',
      '1,a,\n2,b',
      [
        ['2', more],
        ['3', ['2', 'b']],
      ],
    ],
    [
      'has fewer fields',
      '1\n2,b',
      [
        ['2', fewer],
        ['3', ['2', 'b']],
      ],
    ],
    [
      'has more fields because of a quote',
      '1,"a\n2,b\n3,",c\n4,d\n',
      [
        ['2-4', more + next],
        ['3', ['2', 'b']],
        ['4-5', `${unclosed}; reading continues in line 5`],
        ['5', ['4', 'd']],
      ],
    ],
    [
      'has more fields before a quote that is not closed',
      '1,"a\n",x,"b\n3,c\n',
      [
        ['2-3', more + next],
        ['3', misplaced],
        ['4', ['3', 'c']],
      ],
    ],
    [
      'has fewer fields because of a quote',
      '"1,a\n2,b\n"\n3,c',
      [
        ['2-4', fewer + next],
        ['3', ['2', 'b']],
        ['4-5', `${unclosed}; reading continues in line 5`],
        ['5', ['3', 'c']],
      ],
    ],
  ])('all records of CSV are read but one that %s', async (_, file, expected) => {
    for (const chunkSize of [1, 3, 2 ** 16]) {
      expect(await read(`id,name\n${file}`, { chunkSize })).toEqual([header, ...expected]);
    }
  });

  const name = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', '\r', ' ', 'é', 'a') });
  const csvField = fc.oneof(
    // Without quotes: a quote that is not the first character is text.
    name.map((one) => one.replaceAll(/[,\n]/g, '').replaceAll(/^"+|\r+$/g, '')),
    name.map((one) => `"${one.replaceAll('"', '""')}"`),
  );
  const csvFile = fc
    .array(fc.tuple(fc.tuple(csvField, csvField, csvField), fc.constantFrom('\n', '\r\n')))
    .map((records) => records.map(([fields, end]) => fields.join(',') + end).join(''));

  it('records of CSV are the same as those of csv-parse', async () => {
    await fc.assert(
      fc.asyncProperty(csvFile, fc.integer({ min: 1, max: 20 }), async (file, chunkSize) => {
        const records = parse(file, {
          relax_quotes: true,
          record_delimiter: ['\r\n', '\n'],
          skip_empty_lines: true,
        });
        const found = await read(file, { chunkSize });
        const fields = found.map(([, one]) => (typeof one === 'string' ? [one] : one));
        expect(fields.map((one) => one.map((field) => field ?? ''))).toEqual(records);
      }),
      { numRuns: 500 },
    );
  });

  it('all records of CSV are read between lines with misplaced quotes', async () => {
    const plain = fc.nat().map((id) => `${id},Monstera`);
    const broken = fc.constantFrom('"', ',"', 'a,"b', '"a",b"', '"",","', 'a,b,"', '","');
    const lines = fc.array(fc.oneof(plain, broken));
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 20 }), async (all, chunkSize) => {
        const found = await read(['id,name', ...all].join('\n'), { chunkSize });
        const texts = found.map(([, fields]) =>
          typeof fields === 'string' ? '' : fields.join(','),
        );
        // Two misplaced quotes may be valid CSV, and the lines between them the text of a field.
        for (const one of all.filter((line) => line.endsWith(',Monstera'))) {
          expect(texts.filter((text) => text.includes(one))).not.toEqual([]);
        }
      }),
    );
  });
});

describe('records of each format', () => {
  it('records begin after a byte order mark at the start of the file only', async () => {
    for (const chunkSize of [1, 2, 4, 64]) {
      const file = '\ufeff\ufeffid,name\n\ufeff1,a';
      expect(await read(file, { chunkSize })).toEqual([
        ['1', ['\ufeffid', 'name']],
        ['2', ['\ufeff1', 'a']],
      ]);
      expect(await read('\ufeffa\n\ufeffb', { chunkSize, scan: scanLine })).toEqual([
        ['1', ['a\n']],
        ['2', ['\ufeffb']],
      ]);
      expect(await read('a\n', { chunkSize, scan: scanLine })).toEqual([['1', ['a\n']]]);
      expect(await read('\ufeff', { chunkSize, scan: scanLine })).toEqual([]);
    }
  });

  it('all records are read but those that are not valid UTF-8', async () => {
    const file = Buffer.concat([
      Buffer.from('id,name\n1,"é\n'),
      Buffer.of(0xff),
      Buffer.from('"\n2,é\n3,'),
      Buffer.of(0xc3),
      Buffer.from('\n4,"",\n5,🪴'),
    ]);
    for (const chunkSize of [1, 64]) {
      expect(await read(file, { chunkSize })).toEqual([
        header,
        ['2-3', 'the record is not valid UTF-8'],
        ['4', ['2', 'é']],
        ['5', 'the record is not valid UTF-8'],
        ['6', 'the record has more fields than the header'],
        ['7', ['5', '🪴']],
      ]);
    }
  });

  const tooLong = 'the record is longer than 0 MiB';

  it('all records are read but one that is too long', async () => {
    const long = 'x'.repeat(20);
    const file = `first\n${'x'.repeat(19)}\n${long}\né${long}\nlast\n${long}${long}`;
    for (let chunkSize = 1; chunkSize < file.length; chunkSize += 1) {
      expect(await read(file, { scan: scanLine, chunkSize, maxBytes: 20 })).toEqual([
        ['1', ['first\n']],
        ['2', [`${'x'.repeat(19)}\n`]],
        ['3', tooLong],
        ['4', tooLong],
        ['5', ['last\n']],
        ['6', tooLong],
      ]);
    }
  });

  it('all records are read after the first line of quoted text that is too long', async () => {
    const file = 'id,name\n1,"a\n2,b\n3,c\n4,d\n5,e\n6,f\n7,g"\n8,h\n';
    for (let chunkSize = 1; chunkSize < file.length; chunkSize += 1) {
      expect(await read(file, { chunkSize, maxBytes: 20 })).toEqual([
        header,
        ['2-6', `${tooLong}; reading continues in line 3`],
        ...['2b', '3c', '4d', '5e', '6f'].map(([id, one], at) => [`${at + 3}`, [id, one]]),
        ['8', ['7', 'g"']],
        ['9', ['8', 'h']],
      ]);
    }
  });

  it('records are yielded at most 10,000 at a time', async () => {
    const counts: number[] = [];
    const chunks = inChunks(Buffer.from('a\n'.repeat(25_000)), 2 ** 20);
    for await (const records of readRecords(chunks, scanLine)) counts.push(records.length);
    expect(counts).toEqual([10_000, 10_000, 5_000]);
  });

  it('a long record takes one byte of memory for each byte, and keeps its characters', async () => {
    const name = '\u690d'.repeat(2 ** 21);
    const widths = new Set<boolean>();
    const scan: Scan = (text, ...rest) => {
      if (text.length >= name.length) widths.add(/[^\0-\u00ff]/.test(text));
      return scanLine(text, ...rest);
    };
    async function* chunks() {
      yield Buffer.from(`${name}\n`);
    }
    for await (const records of readRecords(chunks(), scan)) {
      expect(records.map(({ fields }) => fields._unsafeUnwrap()[0] === `${name}\n`)).toEqual([
        true,
      ]);
    }
    expect([...widths]).toEqual([false]);
  });

  it('records are not buffered beyond the maximum length', async () => {
    const chunk = Buffer.alloc(2 ** 20, 'x');
    const before = process.memoryUsage().arrayBuffers;
    let added = 0;
    async function* chunks() {
      yield Buffer.from('first\n');
      for (let count = 0; count < 200; count += 1) {
        yield chunk;
        added = Math.max(added, process.memoryUsage().arrayBuffers - before);
      }
      yield Buffer.from('\nlast');
    }
    const found: [number, boolean][] = [];
    for await (const records of readRecords(chunks(), scanLine, 2 ** 20)) {
      for (const { firstLine, fields } of records) found.push([firstLine, fields.isOk()]);
    }
    expect(found).toEqual([
      [1, true],
      [2, false],
      [3, true],
    ]);
    expect(added).toBeLessThan(20 * 2 ** 20);
  });
});
