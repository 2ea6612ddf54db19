import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { newFolder, runIn } from '../../test/run-in-folder.ts';
import { exportPlants } from './export-plants.ts';
import { importPlants } from './import-plants.ts';

/** Imports a file of CSV. */
const importCsv = async (folder: string, file: string | Buffer, ...flags: readonly string[]) => {
  const path = join(await newFolder(), 'in.csv');
  await writeFile(path, file);
  return runIn(folder, ['import', ...flags, path]);
};

/** Number of records that an import creates in two batches. */
const many = 5_000;

describe('import', () => {
  it('import reports refused lines by their numbers, and continues', async () => {
    const folder = await newFolder();
    const lines = [
      '{"id":9007199254740993,"name":"odd"}\r',
      '{"id":9007199254740992,"name":"even \u2028 🪴"}',
      '',
      '{"id":9007199254740993,"name":"another"}',
      '{"id":-9223372036854775808,"name":"least"',
      '{"id":9223372036854775808,"tag":7}',
      '\u{fffe}',
      '{"id":9223372036854775807,"name":"most"}',
    ];
    // A byte that UTF-8 does not have, where a decoder that replaces it would make a name of it.
    const noText = [Buffer.from('\n{"id":1,"name":"'), Buffer.of(0xff), Buffer.from('"}')];
    const stdin = Buffer.concat([Buffer.from(lines.join('\n')), ...noText]);
    const { status, stdout, stderr } = await runIn(folder, ['import'], stdin);
    expect(stderr.trimEnd().split('\n')).toEqual([
      `line 4: ${errorTable['id-taken'].message}`,
      expect.stringMatching(/^line 5: the record is not valid JSON/),
      expect.stringMatching(/^line 6: id .*; name .*; tag /),
      expect.stringMatching(/^line 7: the record is not valid JSON/),
      expect.stringMatching(/^line 9: the record is not valid UTF-8/),
    ]);
    expect([status, stdout]).toEqual([3, '3 plants created, 0 already there, 5 refused\n']);
  });

  it('import reports refused records of CSV by the numbers of their lines, and creates all others', async () => {
    const folder = await newFolder();
    const stdin = [
      'id,name,tag',
      '1,"a\nb",',
      '1e3,x,',
      '99999999999999999999999,x,',
      '"5\r\n",x,y',
      '1,x,',
      '6,"5"" pot",',
      '',
    ].join('\r\n');
    const { status, stdout, stderr } = await importCsv(folder, stdin);
    expect(stderr.trimEnd().split('\n')).toEqual([
      `line 4: ${errorTable['id-not-integer'].message}`,
      expect.stringMatching(/^line 5: id must be from /),
      `lines 6 to 7: ${errorTable['id-not-integer'].message}`,
      `line 8: ${errorTable['id-taken'].message}`,
    ]);
    expect([status, stdout]).toEqual([3, '2 plants created, 0 already there, 4 refused\n']);
    expect((await runIn(folder, ['export'])).stdout).toBe(
      String.raw`{"id":1,"name":"a\nb"}
{"id":6,"name":"5\" pot"}
`,
    );
  });

  const rest =
    'the records before it that were not refused are in the database, and nothing after it was read; correct this and import the file again';

  it('import ends at a record of CSV that cannot be read, and continues once it is corrected', async () => {
    const folder = await newFolder();
    const records = Array.from({ length: many }, (_, id) => `${id},"a\r\n",x`);
    const fileOf = (all: readonly string[]) => ['id,name,tag', ...all, ''].join('\n');
    const stdin = fileOf(records.with(many - 500, `${many},"a\r\n",x"`));
    expect(await importCsv(folder, stdin)).toEqual({
      status: 1,
      stdout: `${many - 500} plants created, 0 already there, 0 refused\n`,
      stderr: expect.stringMatching(
        `^plantstore: what follows line ${2 * many - 999} cannot be read: Invalid Opening Quote.*; ${rest}\n$`,
      ),
    });
    expect((await runIn(folder, ['check'])).stdout).toContain(`: ${many - 500} plants, `);
    expect(await importCsv(folder, fileOf(records))).toMatchObject({
      status: 0,
      stdout: `500 plants created, ${many - 500} already there, 0 refused\n`,
    });
  });

  it('export refuses a plant that CSV cannot carry, and names NDJSON', async () => {
    const folder = await newFolder();
    await runIn(folder, ['import'], '{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":""}\n');
    expect(await runIn(folder, ['export', '--format=csv'])).toMatchObject({
      status: 1,
      stderr:
        'plantstore: the output is incomplete: the plant 2: CSV has no empty text; export it as NDJSON, without --format\n',
    });
  });

  it('import removes a byte order mark at the start of a file', async () => {
    const folder = await newFolder();
    const { status } = await runIn(folder, ['import'], '\ufeff{"id":1,"name":"\ufeffa"}\n');
    expect(status).toBe(0);
    const { stdout } = await runIn(folder, ['export', '--format=csv']);
    expect(stdout).toBe('id,name,tag\r\n1,\ufeffa,\r\n');
    await importCsv(folder, `\ufeff${stdout}3,\ufeff,\ufeff\r\n`);
    expect((await runIn(folder, ['export', '--format=csv'])).stdout).toBe(
      `${stdout}3,\ufeff,\ufeff\r\n`,
    );
  });

  it('import reads the format of --format, else of the name of the file', async () => {
    const folder = await newFolder();
    const path = join(folder, 'plants.CSV');
    await writeFile(path, 'id,name\n1,a\n');
    for (const args of [[path], ['--format=csv'], ['--format', 'csv', '-']]) {
      const result = await runIn(folder, ['import', ...args], 'id,name\n1,a\n');
      expect([result.status, result.stderr]).toEqual([0, '']);
    }
    expect(await runIn(folder, ['import', '--format=ndjson', path])).toMatchObject({ status: 3 });
  });
});

describe('import --strict', () => {
  it('import --strict stops at the first refused line', async () => {
    const folder = await newFolder();
    const stdin = '{"id":1,"name":"a"}\n{"id":2}\n{"id":3,"name":"c"}\n{"id":4}\n';
    const { status, stdout, stderr } = await runIn(folder, ['import', '--strict'], stdin);
    expect([status, stdout, stderr]).toEqual([
      3,
      '1 plant created, 0 already there, 1 refused\n',
      `line 2: ${errorTable['name-required'].message}\n`,
    ]);
    expect((await runIn(folder, ['export'])).stdout).toBe('{"id":1,"name":"a"}\n');
  });

  it('import --strict creates no plant after the batch of a line whose id is taken', async () => {
    const folder = await newFolder();
    const plants = Array.from({ length: many }, (_, id) => `{"id":${id},"name":"a"}\n`);
    const stdin = ['{"id":0,"name":"b"}\n', ...plants].join('');
    const result = await runIn(folder, ['import', '--strict'], stdin);
    expect(result).toEqual({
      status: 3,
      stdout: '3999 plants created, 0 already there, 1 refused\n',
      stderr: `line 2: ${errorTable['id-taken'].message}\n`,
    });
    const exported = (await runIn(folder, ['export'])).stdout.trimEnd().split('\n');
    expect(exported).toHaveLength(3_999);
    expect(exported.at(-1)).toBe('{"id":3998,"name":"a"}');
  });
});

it('import warns that the newest plants are only in the WAL while another program reads', async () => {
  const folder = await newFolder();
  await runIn(folder, ['import'], '{"id":1,"name":"a"}\n');
  const reader = new DatabaseSync(join(folder, 'plants.db'));
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM plants').get();
  const { status, stderr } = await runIn(folder, ['import'], '{"id":2,"name":"b"}\n');
  reader.close();
  expect(status).toBe(0);
  expect(stderr).toContain('the newest plants are still in the WAL');
});
describe('import creates no database', () => {
  it.each([
    ['none', 'no such file or directory'],
    ['folder', 'illegal operation on a directory'],
  ])('import creates no database if it cannot read %s', async (path, reason) => {
    const folder = await newFolder();
    await mkdir(join(folder, 'folder'));
    const from = join(folder, path);
    const result = await runIn(folder, ['import', from]);
    expect(result).toEqual({
      status: 1,
      stdout: '',
      stderr: `plantstore: cannot read ${from}: ${reason}\n`,
    });
    expect(await readdir(folder)).toEqual(['folder']);
  });

  it.each(['7,x,y\n', 'id,tag\n', 'id,name,Tag\n1,a,b\n', '"id,name\n', 'id,name\n"1,a\n'])(
    'import creates no database if the header or the first record of CSV is wrong, as in %j, and advises no repetition',
    async (file) => {
      const folder = await newFolder();
      const { status, stdout, stderr } = await importCsv(folder, file);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        /^plantstore: (?:the header, or the first record,|what) [^]*cannot be read/,
      );
      expect(stderr).not.toContain('run it again');
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it.each<[string, string | Buffer, number, RegExp]>([
    ['nothing', '', 0, /^$/],
    ['blank lines', '\n\n', 0, /^$/],
    ['refused lines', '{"id":1}\n', 3, /^line 1: /],
    [
      'gzip',
      Buffer.from('1f8b0800000000000003', 'hex'),
      1,
      /gzip; read it with: zcat FILE \| plantstore import$/m,
    ],
    ['xz', Buffer.from('fd377a585a000004', 'hex'), 1, /: xzcat FILE \|/],
    ['zstd', Buffer.from('28b52ffd2400', 'hex'), 1, /: zstdcat FILE \|/],
    ['zip', Buffer.from('504b03041400', 'hex'), 1, /: unzip -p FILE \|/],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 1, /: iconv -f UTF-16 -t UTF-8 FILE \|/],
    [
      'a database',
      'SQLite format 3\0 and more',
      1,
      /: plantstore export --database sqlite:FILE \|/,
    ],
    ['a dump as text', '--\n-- PostgreSQL database dump\n--\n', 1, /a dump of PostgreSQL: restore/],
    ['a dump', 'PGDMP and more', 1, /pg_restore or psql; read it with: plantstore export/],
  ])('import creates no database from %s', async (_, stdin, status, stderr) => {
    const folder = await newFolder();
    const result = await runIn(folder, ['import', '-'], stdin);
    expect(result).toMatchObject({ status, stderr: expect.stringMatching(stderr) as unknown });
    expect(await readdir(folder)).toEqual([]);
  });
});

/** Starts an import in a terminal. */
const startImport = async (lines: string) => {
  const folder = await newFolder();
  const file = join(folder, 'plants.ndjson');
  await writeFile(file, lines);
  const path = join(folder, 'plants.db');
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const stdin = new PassThrough();
  stdin.write(lines);
  const run = async (from: 'file' | 'standard input', { strict } = { strict: false }) => {
    const { status } = await importPlants.run({
      file: from === 'file' ? file : undefined,
      database: { kind: 'sqlite', path },
      format: 'ndjson',
      strict,
      stdin: () => stdin,
      stdout: new PassThrough(),
      stderr,
    });
    return { status, progress: String(stderr.read() ?? '') };
  };
  return { path, stdin, run };
};

const plant = '{"id":1,"name":"Monstera"}\n';

it('import --strict ends at a refused line while more of its input may follow', async () => {
  const { run } = await startImport('{"id":1}\n');
  expect((await run('standard input', { strict: true })).status).toBe(3);
});

it('an import shows a progress line on a terminal, and clears it', async () => {
  const { run } = await startImport(plant);
  const { status, progress } = await run('file');
  expect(status).toBe(0);
  expect(progress).toContain('0 plants created, 0 already there, 0 refused');
  expect(progress.endsWith('\r\u001B[K')).toBe(true);
});

it('an export shows a progress line on a terminal, and clears it', async () => {
  const { path, run } = await startImport(`{"id":1,"name":"${'x'.repeat(2 ** 20)}"}\n`);
  await run('file');
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const { status } = await exportPlants.run({
    file: undefined,
    database: { kind: 'sqlite', path },
    format: 'ndjson',
    strict: false,
    stdin: () => new PassThrough(),
    stdout: new PassThrough().resume(),
    stderr,
  });
  expect(status).toBe(0);
  const line = '1 plant exported';
  expect(stderr.read()).toBe(`\r\u001B[K${line}\r\u001B[K${line}\n`);
});

it('an import creates long plants before it has read many, so that they take little memory', async () => {
  const name = 'x'.repeat(2 ** 21);
  const { path, run, stdin } = await startImport(
    [1, 2, 3].map((id) => `{"id":${id},"name":"${name}"}\n`).join(''),
  );
  const imported = run('standard input');
  const countPlants = () => {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { readOnly: true });
      return database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants'];
    } catch {
      // The import has not created the table yet.
      return 0;
    } finally {
      database?.close();
    }
  };
  await expect.poll(countPlants).toBeGreaterThanOrEqual(2);
  stdin.end();
  expect((await imported).status).toBe(0);
});
