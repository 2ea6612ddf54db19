import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, neededVariables, newFolder } from './program.ts';
import { runCommand } from './run-command.ts';

const csv = ['import', '--format=csv'];

describe('import', () => {
  it('import reports refused records of CSV by the numbers of their lines, and creates all others', async () => {
    const cwd = await newFolder();
    const stdin = [
      'id,name,tag',
      '1,"a\nb",',
      '2,"\n",,',
      '3,x',
      '1e3,x,',
      '99999999999999999999999,x,',
      '4,"x"y,',
      '"5\n",x,y',
      '6,5" pot,',
      '7,"x',
    ].join('\r\n');
    const { status, stdout, stderr } = await runCommand(csv, { cwd, stdin });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'lines 4 to 5: the record has more fields than the header; reading continues in line 5',
      'lines 5 to 9: text follows a closing quote; reading continues in line 6',
      'line 6: the record has fewer fields than the header',
      'line 7: id must be an exact integer',
      expect.stringMatching(/^line 8: id must be from /),
      'line 9: text follows a closing quote',
      'lines 10 to 11: id must be an exact integer',
      'line 13: a quoted field is not closed',
    ]);
    expect([status, stdout]).toEqual([3, '2 plants in the database, 8 refused\n']);
    expect((await runCommand(['export'], { cwd })).stdout).toBe(
      String.raw`{"id":1,"name":"a\nb"}
{"id":6,"name":"5\" pot"}
`,
    );
  });

  it('import creates 1,000 plants of CSV with quotes in their names', async () => {
    const cwd = await newFolder();
    const records = Array.from(
      { length: 1_000 },
      (_, id) => `${id},${id % 500 === 20 ? '5" pot' : 'a'},`,
    );
    const stdin = ['id,name,tag', ...records].join('\r\n');
    expect(await runCommand(csv, { cwd, stdin })).toEqual({
      status: 0,
      stdout: '1000 plants in the database, 0 refused\n',
      stderr: '',
    });
  });

  it('import creates all plants of CSV but one with a quote that is not closed', async () => {
    const cwd = await newFolder();
    const records = Array.from({ length: 1_000 }, (_, id) => `${id},${id === 20 ? '"pot' : 'a'},`);
    const stdin = ['id,name,tag', ...records].join('\n');
    expect(await runCommand(csv, { cwd, stdin })).toEqual({
      status: 3,
      stdout: '999 plants in the database, 1 refused\n',
      stderr: 'lines 22 to 1001: a quoted field is not closed; reading continues in line 23\n',
    });
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
  const plants = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"a"}\n`);
  const result = await runCommand(['import'], { cwd, stdin: ['{"id":0}\n', ...plants].join('') });
  expect(result).toEqual({
    status: 3,
    stdout: '20000 plants in the database, 1 refused\n',
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

  it('import --strict stops at a record that cannot be read', async () => {
    const cwd = await newFolder();
    const stdin = 'id,name\n1,a\n2,"b\n3,c\n';
    const result = await runCommand([...csv, '--strict'], { cwd, stdin });
    expect([result.status, result.stdout]).toEqual([3, '1 plant in the database, 1 refused\n']);
    expect((await runCommand(['export'], { cwd })).stdout).toBe('{"id":1,"name":"a"}\n');
  });

  it('import --strict creates no plant after the batch of a line whose id is taken', async () => {
    const cwd = await newFolder();
    const plants = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"a"}\n`);
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
  const command = ['--conditions=@plantstore/source', bin, 'import', ...args];
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
    const child = spawn(process.execPath, ['--conditions=@plantstore/source', bin, 'import'], {
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

  it.each(['7,x,y\n', 'id,tag\n', '"id,name\n', 'id,name,name\n', '\n\nid\n'])(
    'import creates no database if the header of CSV is wrong, as in %j, and advises no repetition',
    async (stdin) => {
      const cwd = await newFolder();
      const { status, stdout, stderr } = await runCommand(csv, { cwd, stdin });
      expect([status, stdout]).toEqual([1, '']);
      const line = stdin.startsWith('\n') ? 3 : 1;
      expect(stderr).toBe(
        `plantstore-server: line ${line} must name each column once: id,name,tag\n`,
      );
      expect(await readdir(cwd)).toEqual([]);
    },
  );
});
