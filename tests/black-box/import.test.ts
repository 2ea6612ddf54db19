import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { runsAll, sample } from '@plantstore/test-support/sample';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, neededVariables, newFolder } from './program.ts';
import { runCommand } from './run-command.ts';

const csv = ['import', '--format=csv'];

/** Number of records that an import creates in several batches. */
const many = runsAll ? 30_000 : 9_000;

describe('import', () => {
  it('import reports refused records of CSV by the numbers of their lines, and creates all others', async () => {
    const cwd = await newFolder();
    const stdin = [
      'id,name,tag',
      '1,"a\nb",',
      '1e3,x,',
      '99999999999999999999999,x,',
      '"5\r\n",x,y',
      '1,x,',
      '6,"5"" pot",',
    ].join('\r\n');
    const { status, stdout, stderr } = await runCommand(csv, { cwd, stdin });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'line 4: id must be an exact integer',
      expect.stringMatching(/^line 5: id must be from /),
      'lines 6 to 7: id must be an exact integer',
      'line 8: another plant has this id',
    ]);
    expect([status, stdout]).toEqual([3, '2 plants in the database, 4 refused\n']);
    expect((await runCommand(['export'], { cwd })).stdout).toBe(
      String.raw`{"id":1,"name":"a\nb"}
{"id":6,"name":"5\" pot"}
`,
    );
  });

  const rest =
    'the records before it that were not refused are in the database, and nothing after it was read; correct this and import the file again';

  it.each(sample(['\n', '\r\n', '\r'], 2))(
    'import ends at a record of CSV that cannot be read, and continues once it is corrected, with the line end %j',
    async (end) => {
      const cwd = await newFolder();
      const records = Array.from({ length: many }, (_, id) => `${id},"a\r\n",x`);
      const fileOf = (all: readonly string[]) => ['id,name,tag', ...all].join(end);
      const stdin = fileOf(records.with(many - 1_000, `${many},"a\r\n",x"`));
      expect(await runCommand(csv, { cwd, stdin })).toEqual({
        status: 1,
        stdout: `${many - 1_000} plants in the database, 0 refused\n`,
        stderr: `plantstore-server: line ${2 * many - 1_998} cannot be read: a field that contains a quote must begin with one; ${rest}\n`,
      });
      expect((await runCommand(['check'], { cwd })).stdout).toContain(`: ${many - 1_000} plants, `);
      expect(await runCommand(csv, { cwd, stdin: fileOf(records) })).toMatchObject({
        status: 0,
        stdout: `${many} plants in the database, 0 refused\n`,
      });
    },
  );

  it('import refuses the rest of a file of CSV after a quote that is not closed, in bounded memory', async () => {
    const cwd = await newFolder();
    const path = join(cwd, 'plants.csv');
    await writeFile(path, 'id,name\n1,a\n2,"b');
    // The rest are zeros, which take no space on the disk.
    await truncate(path, 2 ** 30);
    const report = `if (process.getBuiltinModule('node:worker_threads').isMainThread)
      process.on('exit', () => console.log(process.resourceUsage().maxRSS))`;
    const options = `--import ${JSON.stringify(`data:text/javascript,${encodeURIComponent(report)}`)}`;
    const { status, stdout, stderr } = await runCommand(['import', path], {
      cwd,
      env: { NODE_OPTIONS: options },
    });
    expect([status, stderr]).toEqual([
      1,
      `plantstore-server: line 3 cannot be read: it is longer than 16 MiB, or a quoted field is not closed; ${rest}\n`,
    ]);
    const [summary, maxRss] = stdout.split('\n');
    expect(summary).toBe('1 plant in the database, 0 refused');
    // In KiB. Reading the file takes at least its size.
    expect(Number(maxRss)).toBeLessThan(2 ** 19);
  });

  it('export refuses a plant that CSV cannot keep, names NDJSON, and import reads every plant that it wrote', async () => {
    const cwd = await newFolder();
    const lines = [15, 17].map((size) => `{"id":${size},"name":"${'x'.repeat(size * 2 ** 20)}"}\n`);
    await runCommand(['import'], { cwd, stdin: lines.join('') });
    const { status, stdout, stderr } = await runCommand(['export', '--format=csv'], { cwd });
    expect([status, stderr]).toEqual([
      1,
      'plantstore-server: the output is incomplete: the plant 17 is longer than 16 MiB, the maximum of a CSV record; export with --format=ndjson\n',
    ]);
    const other = ['--database', 'sqlite:other.db'];
    expect((await runCommand([...csv, ...other], { cwd, stdin: stdout })).status).toBe(0);
    expect((await runCommand(['export', ...other], { cwd })).stdout).toBe(lines[0]);
    expect((await runCommand(['export'], { cwd })).stdout).toBe(lines.join(''));
  });

  it('import removes a byte order mark at the start of a file, and refuses one in another line of JSON', async () => {
    const cwd = await newFolder();
    const stdin = '\ufeff{"id":1,"name":"\ufeffa"}\n\ufeff{"id":2,"name":"b"}\n';
    const { status, stderr } = await runCommand(['import'], { cwd, stdin });
    expect(status).toBe(3);
    expect(stderr).toMatch(/^line 2: the record is not valid JSON.*\n$/);
    const { stdout } = await runCommand(['export', '--format=csv'], { cwd });
    expect(stdout).toBe('id,name,tag\r\n1,\ufeffa,\r\n');
    await runCommand(csv, { cwd, stdin: `\ufeff${stdout}3,\ufeff,\ufeff\r\n` });
    expect((await runCommand(['export', '--format=csv'], { cwd })).stdout).toBe(
      `${stdout}3,\ufeff,\ufeff\r\n`,
    );
  });
});

it('import creates the plants of later batches after a refused line', async () => {
  const cwd = await newFolder();
  const plants = Array.from({ length: many }, (_, id) => `{"id":${id},"name":"a"}\n`);
  const result = await runCommand(['import'], { cwd, stdin: ['{"id":0}\n', ...plants].join('') });
  expect(result).toEqual({
    status: 3,
    stdout: `${many} plants in the database, 1 refused\n`,
    stderr: 'line 1: name is required\n',
  });
});

describe('import --strict', () => {
  it('import --strict stops at the first refused line', async () => {
    const cwd = await newFolder();
    const stdin = '{"id":1,"name":"a"}\n{"id":2}\n{"id":3,"name":"c"}\n{"id":4}\n';
    const { status, stdout, stderr } = await runCommand(['import', '--strict'], { cwd, stdin });
    expect([status, stdout, stderr]).toEqual([
      3,
      '1 plant in the database, 1 refused\n',
      'line 2: name is required\n',
    ]);
    expect((await runCommand(['export'], { cwd })).stdout).toBe('{"id":1,"name":"a"}\n');
  });

  it('import --strict stops at a refused line before a record that cannot be read', async () => {
    const cwd = await newFolder();
    const stdin = 'id,name\n1,a\n1,b\n2,c\n3,"d"e\n';
    const result = await runCommand([...csv, '--strict'], { cwd, stdin });
    expect(result).toEqual({
      status: 3,
      stdout: '2 plants in the database, 1 refused\n',
      stderr: 'line 3: another plant has this id\n',
    });
  });

  it('import --strict creates no plant after the batch of a line whose id is taken', async () => {
    const cwd = await newFolder();
    const plants = Array.from({ length: many }, (_, id) => `{"id":${id},"name":"a"}\n`);
    const stdin = ['{"id":0,"name":"b"}\n', ...plants].join('');
    const result = await runCommand(['import', '--strict'], { cwd, stdin });
    expect(result).toEqual({
      status: 3,
      stdout: '3999 plants in the database, 1 refused\n',
      stderr: 'line 2: another plant has this id\n',
    });
    const exported = (await runCommand(['export'], { cwd })).stdout.trimEnd().split('\n');
    expect(exported).toHaveLength(3_999);
    expect(exported.at(-1)).toBe('{"id":3998,"name":"a"}');
  });
});

/** Starts an import whose standard input stays open. */
const startImport = (cwd: string, args: readonly string[] = []) => {
  const command = [bin, 'import', ...args];
  const child = spawn(process.execPath, command, { cwd, env: neededVariables() });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return { child, output, exited: once(child, 'close') };
};

describe('import whose streams do not end', () => {
  it('import --strict ends at a refused line, although its standard input is still open', async () => {
    const { child, output, exited } = startImport(await newFolder(), ['--strict']);
    child.stdin.write('{"id":1,"name":"a"}\n{"id":2}\n');
    expect(await exited).toEqual([3, null]);
    expect(output.stderr).toBe('line 2: name is required\n');
  });

  it('import creates every plant, although nothing reads its messages', async () => {
    const cwd = await newFolder();
    const { child, exited } = startImport(cwd);
    child.stderr.destroy();
    await once(child.stderr, 'close');
    child.stdin.end('{"id":1}\n{"id":2,"name":"b"}\n');
    expect(await exited).toEqual([3, null]);
    expect((await runCommand(['export'], { cwd })).stdout).toBe('{"id":2,"name":"b"}\n');
  });

  it('import warns that the newest plants are only in the WAL while another program reads', async () => {
    const cwd = await newFolder();
    await runCommand(['import'], { cwd, stdin: '{"id":1,"name":"a"}\n' });
    const reader = new DatabaseSync(join(cwd, 'plants.db'));
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM plants').get();
    const { status, stderr } = await runCommand(['import'], {
      cwd,
      stdin: '{"id":2,"name":"b"}\n',
    });
    reader.close();
    expect(status).toBe(0);
    expect(stderr).toContain('the newest plants are still in the WAL');
  });
});

describe('import to a disk that fails', () => {
  it('import names the first line that it could not create', async ({ skip }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined) return skip('this machine has no C compiler to build the faulty disk');
    const args = ['import', '--database', `sqlite:${disk.path}`];
    const cwd = await newFolder();
    expect((await runCommand(args, { cwd, stdin: '{"id":1,"name":"a"}\n' })).status).toBe(0);
    const stdin = [2, 3, 4].map((id) => `{"id":${id},"name":"a"}\n`).join('');
    // The first sync is that of the opening.
    const env = { ...disk.env, DISK_FAILS: 'wal 2 1000' };
    const { status, stderr } = await runCommand(args, { cwd, env, stdin });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^plantstore-server: stopped at line 1: .*; run it again to continue$/m);
    // What is not in the database is not said to be, although a later record cannot be read.
    const unread = await runCommand([...args, '--format=csv'], {
      cwd,
      env,
      stdin: 'id,name\n5,a\n6,"a"b\n',
    });
    expect([unread.status, unread.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^plantstore-server: stopped at line 2: .*; run it again to continue$/m,
      ),
    ]);
    expect(unread.stderr).not.toContain('are in the database');
  });
});

describe('import creates no database', () => {
  it.each([
    ['none', 'it does not exist'],
    ['file/none', 'it does not exist'],
    ['folder', 'it is a folder'],
    ['socket', 'ENXIO'],
  ])('import creates no database if it cannot read %s', async (path, reason) => {
    const cwd = await newFolder();
    await mkdir(join(cwd, 'folder'));
    await writeFile(join(cwd, 'file'), '');
    const server = createServer().listen(join(cwd, 'socket'));
    await once(server, 'listening');
    const result = await runCommand(['import', path], { cwd });
    expect(result).toEqual({
      status: 1,
      stdout: '',
      stderr: `plantstore-server: cannot read ${path}: ${reason}\n`,
    });
    expect((await readdir(cwd)).toSorted()).toEqual(['file', 'folder', 'socket']);
    server.close();
  });

  it('import creates no database if standard input is a folder', async () => {
    const cwd = await newFolder();
    const folder = openSync(cwd, 'r');
    const child = spawn(process.execPath, [bin, 'import'], {
      cwd,
      env: neededVariables(),
      stdio: [folder, 'ignore', 'pipe'],
    });
    closeSync(folder);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stderr).toBe('plantstore-server: cannot read standard input: it is a folder\n');
    expect(await readdir(cwd)).toEqual([]);
  });

  it.each([
    ['7,x,y\n', 'line 1 cannot be read: the header must name'],
    ['id,tag\n', 'line 1 cannot be read: the header must name'],
    ['id,name,Tag\n1,a,b\n', 'line 1 cannot be read: the header must name'],
    ['"id,name\n', 'line 1 cannot be read: a quoted field is not closed'],
    ['\n\nid\n', 'line 3 cannot be read: the header must name'],
    ['id,name\n"1,a\n', 'line 2 cannot be read: a quoted field is not closed'],
    ['', 'the header must name'],
  ])(
    'import creates no database if the header or the first record of CSV is wrong, as in %j, and advises no repetition',
    async (stdin, reason) => {
      const cwd = await newFolder();
      const { status, stdout, stderr } = await runCommand(csv, { cwd, stdin });
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr.startsWith(`plantstore-server: ${reason}`)).toBe(true);
      expect(stderr).not.toContain('run it again');
      expect(await readdir(cwd)).toEqual([]);
    },
  );
});
