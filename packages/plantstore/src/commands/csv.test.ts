import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inChunks } from '../../test/in-chunks.ts';
import { readCsv } from './csv.ts';

type Read = string | readonly [lines: string, ...fields: readonly (string | undefined)[]];

/** Reads a file; an error is the last result. */
const read = async (file: string | Buffer, size = 2 ** 16): Promise<Read[]> => {
  const found: Read[] = [];
  for await (const records of readCsv(inChunks(Buffer.from(file), size), 2 ** 20, true)) {
    if (records.isErr()) found.push(records.error);
    else {
      for (const { firstLine, lastLine, fields } of records.value) {
        const lines = firstLine === lastLine ? `${firstLine}` : `${firstLine}-${lastLine}`;
        found.push([lines, fields?.id, fields?.name, fields?.tag]);
      }
    }
  }
  return found;
};

const header = 'id,name,tag\n';

describe('records of CSV', () => {
  it('a record of CSV ends with LF, CR LF or CR, and the last may have no end', async () => {
    const file = `${header}1,a,\r\n2,b,\r3,"c",\r\n"4",d,"e"`;
    for (const size of [1, 2, 3, 64]) {
      expect(await read(file, size)).toEqual([
        ['2', '1', 'a', undefined],
        ['3', '2', 'b', undefined],
        ['4', '3', 'c', undefined],
        ['5', '4', 'd', 'e'],
      ]);
    }
  });

  it('a record of CSV keeps spaces, U+FEFF, and all text in quotes', async () => {
    expect(await read(`${header}1, \ufeffa ,"b\r\n,\r""\n\ufeff🪴"\n2,b,`)).toEqual([
      ['2-5', '1', ' \ufeffa ', 'b\r\n,\r"\n\ufeff🪴'],
      ['6', '2', 'b', undefined],
    ]);
  });

  it('a field of CSV that is empty without quotes is absent, and empty lines are ignored', async () => {
    expect(await read(`\n${header}\r\n"",,""\n\n,"",\n\n`)).toEqual([
      ['4', '', undefined, ''],
      ['6', undefined, '', undefined],
    ]);
  });

  it('records of CSV begin after a byte order mark at the start of the file only', async () => {
    for (const size of [1, 2, 4, 64]) {
      expect(await read(`\ufeff"id",name,tag\n\ufeff1,a,`, size)).toEqual([
        ['2', '\ufeff1', 'a', undefined],
      ]);
    }
  });

  it('records of CSV are those of a file read at once, however it is split', async () => {
    const text = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', '\r', ' ', 'é', 'a') });
    const field = fc.oneof(
      text.map((one) => one.replaceAll(/[",\r\n]/g, '')),
      text.map((one) => `"${one.replaceAll('"', '""')}"`),
    );
    const fields = fc.tuple(field, field, field).map((all) => all.join());
    const file = fc.array(fc.tuple(fields, fc.constantFrom('\n', '\r\n', '\r')));
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 20 }), async (records, size) => {
        let last = 1;
        const expected = records.map(([record]) => {
          const first = last + 1;
          last = first + record.split(/\r\n|\r|\n/).length - 1;
          const [values = []] = parse(record, {
            record_delimiter: '\0',
            cast: (value, { quoting }) => (value === '' && !quoting ? undefined : value),
          });
          return [first === last ? `${first}` : `${first}-${last}`, ...values];
        });
        expect(await read(header + records.flat().join(''), size)).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });
});

describe('the header of CSV', () => {
  it.each([
    ['id,name\n1,a', undefined],
    ['name,id\na,1', undefined],
    ['"tag",id,name\nx,1,a', 'x'],
    ['name,tag,id\na,x,1', 'x'],
  ])(
    'the header of CSV names id, name and, if there are tags, tag, in any order: %j',
    async (file, tag) => {
      expect(await read(file)).toEqual([['2', '1', 'a', tag]]);
    },
  );

  it.each([
    '"id,name",tag',
    'id,name,Tag',
    'id,name, tag',
    'id,name,tags',
    'id,name,tag,',
    'id,name,tag,colour',
    'id,name,name',
    'id,tag',
    'id;name;tag',
    'ID,name',
  ])('the header %j is refused, and shown', async (names) => {
    const found = JSON.stringify(names.replaceAll('"', ''));
    const start =
      'line 2 cannot be read: the header must name each column once: id, name, and optionally tag';
    const [error = '', ...others] = (await read(`\r\n${names}\n1,a,b`)) as string[];
    expect([error.startsWith(start), others]).toEqual([true, []]);
    expect(error.endsWith(`; it is ${found}`)).toBe(true);
  });

  it.each([
    ['ID,NAME', '"ID" is not a column; did you mean id?'],
    ['id, name', '" name" is not a column; did you mean name?'],
    ['id,nmae', '"nmae" is not a column; did you mean name?'],
    ['id,name,colour', '"colour" is not a column'],
    ['id,name,tag,', '"" is not a column'],
    ['id,name,id', 'id is named twice'],
    ['id,tag', 'name is missing'],
    ['id;name;tag', 'fields are separated by a comma, not by ";"'],
    ['id\tname', String.raw`fields are separated by a comma, not by "\t"`],
    ['sep=;', 'fields are separated by a comma, not by ";"'],
    ['7,x,y', '"7" is not a column'],
  ])('the message of the header %j names its first fault: %s', async (names, fault) => {
    const start = `line 1 cannot be read: the header must name each column once: id, name, and optionally tag; ${fault}; it is `;
    expect(await read(`${names}\n`)).toEqual([expect.stringContaining(start)]);
  });

  it('a header with quotes and semicolons is refused for its semicolons', async () => {
    expect(await read('"id";"name"\n')).toEqual([
      'line 1 cannot be read: text follows a closing quote; fields are separated by a comma',
    ]);
  });

  it.each(['', '\ufeff', '\n\r\n'])(
    'a file of CSV without a header, %j, is refused',
    async (file) => {
      expect(await read(file)).toEqual([
        expect.stringMatching(/^the header must .*; it is missing$/),
      ]);
    },
  );

  it('a long header is shown in part', async () => {
    expect(await read(`${'x'.repeat(10_000)}\n`)).toEqual([
      expect.stringMatching(/; it is "x{200}"$/),
    ]);
  });
});

const long = 'x'.repeat(2 ** 20);

describe('a record of CSV that cannot be read', () => {
  it.each([
    ['has no closing quote', '2,"b,\n3,c,\n4,d,\n', 'a quoted field is not closed'],
    ['has text after a quote', '2,"b"c,\n3,c,\n', 'text follows a closing quote'],
    [
      'has a quote in a field',
      '2,5" pot,\n3,c,\n',
      'a field that contains a quote must begin with one',
    ],
    ['ends at the quote of another', '2,"b,\n3,"c",\n', 'text follows a closing quote'],
    ['has more fields', '2,b,,\n3,c,\n', 'it must have as many fields as the header'],
    ['has fewer fields', '2,b\n3,c,\n', 'it must have as many fields as the header'],
    ['is a space', ' \n3,c,\n', 'it must have as many fields as the header'],
    ['has 101 fields', `${','.repeat(100)}\n3,c,\n`, 'it has more than 100 fields'],
    [
      'is too long',
      `2,"${long}${long}`,
      'it is longer than 1 MiB, or a quoted field is not closed',
    ],
    [
      'has fields that are too long together',
      `2,${long.slice(1)}é,${long}\n3,c,\n`,
      'it is longer than 1 MiB, or a quoted field is not closed',
    ],
  ])('no record of CSV is read after one that %s', async (_, rest, reason) => {
    for (const size of rest.length > 1_000 ? [2 ** 18] : [1, 3, 2 ** 16]) {
      expect(await read(`${header}1,"a\r\n\r\n",\n\n${rest}`, size)).toEqual([
        ['2-4', '1', 'a\r\n\r\n', undefined],
        `line 6 cannot be read: ${reason}`,
      ]);
    }
  });

  it('readCsv reads no more of a file after a quote that is not closed within the maximum length', async () => {
    let chunks = 0;
    async function* endless() {
      yield Buffer.from(`${header}1,"`);
      for (;;) {
        chunks += 1;
        yield Buffer.alloc(2 ** 18, 'x');
      }
    }
    for await (const records of readCsv(endless(), 2 ** 20, true)) {
      if (records.isErr()) expect(records.error).toContain('it is longer than 1 MiB');
    }
    expect(chunks).toBeLessThan(10);
  });

  it('no record of CSV is read after one that is not valid UTF-8', async () => {
    const start = Buffer.from(`${header}1,é,\n2,`);
    const file = Buffer.concat([start, Buffer.of(0xc3), Buffer.from(',\n3,c,\n')]);
    for (const size of [1, 64]) {
      expect(await read(file, size)).toEqual([
        ['2', '1', 'é', undefined],
        'line 3 cannot be read: it is not valid UTF-8',
      ]);
    }
  });

  it('records of CSV of the maximum length are read', async () => {
    const name = '\u00e9'.repeat(2 ** 19 - 1);
    expect(await read(`${header}1,"${name}",\n2,b,`)).toEqual([
      ['2', '1', name, undefined],
      ['3', '2', 'b', undefined],
    ]);
  });
});
