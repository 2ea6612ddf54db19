import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sample } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { bin, newFolder, post, startProgram } from './program.ts';
import { runCommand, writePlants } from './run-command.ts';

const run = promisify(execFile);
type Failure = { readonly code: number | string; readonly stderr: string };

describe('the command line', () => {
  it.each(sample(['backup', 'restore', 'export', 'import', 'check'], 3))(
    'the command %s has a help with its exit statuses',
    async (command) => {
      const { status, stdout, stderr } = await runCommand([command, '--help'], {
        cwd: await newFolder(),
      });
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`Usage: plantstore-server ${command}`);
      const more = command === 'import' ? ',\n3 if lines were refused' : '';
      const statuses = `Exit status: 0 done, 1 failed, 2 for an invalid command line${more}.\n`;
      expect(stdout.endsWith(statuses)).toBe(true);
    },
  );

  it.each([
    ['export', 'default: ndjson'],
    ['import', 'default: csv for a file named .csv, else ndjson'],
  ])('the help of %s states its own default of --format', async (command, expected) => {
    const { stdout } = await runCommand([command, '--help'], { cwd: await newFolder() });
    expect(stdout).toContain(`  --format ndjson|csv\n      ${expected}\n`);
  });

  it.each(
    sample(
      [
        [['bakcup', 'b.db'], ['unknown command "bakcup"; did you mean backup?']],
        [['serve'], ['unknown command "serve"; see --help']],
        [
          ['export', '--formt', 'csv', '--port', '80'],
          ['unknown option --formt; did you mean --format?', 'unknown option --port; see --help'],
        ],
        [['backup'], ['backup needs TO, the path of a file']],
        [['restore', ''], ['restore needs FROM, the path of a file']],
        [['check', 'plants.db'], ['unexpected argument "plants.db"; see --help']],
        [['export', 'out.ndjson'], ['unexpected argument "out.ndjson"; see --help']],
        [['backup', 'b.db', '--replace'], ['unknown option --replace; see --help']],
        [
          ['export', '--format', 'xml', '--strict'],
          ['unknown option --strict; see --help', '--format must be ndjson or csv'],
        ],
        [
          ['check', '--database', 'memory:'],
          ['--database must be a database that outlives the process, not memory:'],
        ],
        [
          ['check', '--database', 'plants.db'],
          ['--database must be sqlite: and the path of a file, a postgres:// URL, or memory:'],
        ],
      ],
      2,
    ),
  )(
    'the command line names everything that is wrong in %j, with status 2',
    async (args, faults) => {
      const cwd = await newFolder();
      const { status, stdout, stderr } = await runCommand(args, { cwd });
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toBe(faults.map((fault) => `plantstore-server: ${fault}\n`).join(''));
      expect(await readdir(cwd)).toEqual([]);
    },
  );

  it('the command line reads the database from the environment, and a flag takes precedence', async () => {
    const cwd = await newFolder();
    const env = { PLANTSTORE_DATABASE: 'sqlite:env.db' };
    await runCommand(['import'], { cwd, env, stdin: '{"id":1,"name":"a"}' });
    await runCommand(['import', '--database', 'sqlite:flag.db'], { cwd, env, stdin: '' });
    expect((await runCommand(['check'], { cwd, env })).stdout).toMatch(/^env\.db: 1 plant, /);
    const flag = await runCommand(['check', '--database=sqlite:flag.db'], { cwd, env });
    expect(flag.stdout).toMatch(/^flag\.db: 0 plants, /);
  });
});

describe('export and import', () => {
  it('export and import keep every plant as it is, in both formats, through files and pipes', async () => {
    const cwd = await newFolder();
    const text = await writePlants(join(cwd, 'in.ndjson'), 2_000);
    const imported = await runCommand(['import', 'in.ndjson'], { cwd });
    expect(imported).toEqual({
      status: 0,
      stdout: '2000 plants in the database, 0 refused\n',
      stderr: '',
    });
    const exported = await runCommand(['export'], { cwd });
    expect(exported).toEqual({ status: 0, stdout: text, stderr: '2000 plants exported\n' });

    const { stdout: csv } = await runCommand(['export', '--format', 'csv'], { cwd });
    await writeFile(join(cwd, 'out.csv'), csv);
    const database = ['--database', 'sqlite:other.db'];
    expect((await runCommand(['import', 'out.csv', ...database], { cwd })).status).toBe(0);
    expect((await runCommand(['export', ...database], { cwd })).stdout).toBe(text);
  });

  it('export and import distinguish an absent tag from an empty one in CSV', async () => {
    const cwd = await newFolder();
    const stdin = [
      '{"id":-1,"name":"none"}',
      '{"id":0,"name":"","tag":""}',
      String.raw`{"id":9223372036854775807,"name":"a \"b\",\r\nc","tag":"x"}`,
    ].join('\n');
    expect((await runCommand(['import'], { cwd, stdin })).status).toBe(0);
    const { stdout } = await runCommand(['export', '--format', 'csv'], { cwd });
    expect(stdout).toBe(
      'id,name,tag\r\n-1,none,\r\n0,"",""\r\n9223372036854775807,"a ""b"",\r\nc",x\r\n',
    );
    const others = 'tag,id,name\n,-1,none\n"",0,""\n"x",9223372036854775807,"a ""b"",\r\nc"';
    const again = await runCommand(['import', '--format', 'csv'], {
      cwd,
      stdin: `\ufeff${others}`,
    });
    expect(again).toMatchObject({ status: 0, stderr: '' });
  });

  it('import reports refused lines by their numbers, and continues', async () => {
    const cwd = await newFolder();
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
    const { status, stdout, stderr } = await runCommand(['import'], { cwd, stdin });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'line 4: another plant has this id',
      expect.stringMatching(/^line 5: the record is not valid JSON/),
      expect.stringMatching(/^line 6: id .*; name .*; tag /),
      expect.stringMatching(/^line 7: the record is not valid JSON/),
      'line 9: the record is not valid UTF-8',
    ]);
    expect([status, stdout]).toEqual([3, '3 plants in the database, 5 refused\n']);
  });

  it('import names a file that cannot be read, and creates no database', async () => {
    const cwd = await newFolder();
    expect(await runCommand(['import', 'none.ndjson'], { cwd })).toMatchObject({
      status: 1,
      stderr: 'plantstore-server: cannot read none.ndjson: it does not exist\n',
    });
    const missing = await runCommand(['export'], { cwd });
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toMatch(/plants\.db does not exist/);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('export writes the plants while a server runs, and import refuses to run then', async () => {
    const cwd = await newFolder();
    const server = await startProgram({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
    for (const id of [1, 2]) await post(server.url, `{"id":${id},"name":"a"}`);
    expect((await runCommand(['export'], { cwd })).stdout).toBe(
      '{"id":1,"name":"a"}\n{"id":2,"name":"a"}\n',
    );
    const imported = await runCommand(['import'], { cwd, stdin: '{"id":5,"name":"a"}' });
    expect(imported.status).toBe(1);
    expect(imported.stderr).toMatch(/cannot open the database .*is in use/);
  });

  it('export fails when standard output is on a full disk', async () => {
    const cwd = await newFolder();
    await runCommand(['import'], { cwd, stdin: '{"id":1,"name":"a"}' });
    const full = await open('/dev/full', 'w');
    const args = [bin, 'export'];
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', full.fd, 'pipe'] });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [status] = (await once(child, 'close')) as [number];
    await full.close();
    expect([status, stderr]).toEqual([
      1,
      'plantstore-server: cannot write to standard output: the disk is full\n',
    ]);
  });

  it('export ends when the reader of its pipe does', async () => {
    const cwd = await newFolder();
    await writePlants(join(cwd, 'in.ndjson'), 20_000);
    await runCommand(['import', 'in.ndjson'], { cwd });
    const args = [bin, 'export'];
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [status] = (await once(child, 'close')) as [number];
    expect([status, stderr]).toEqual([
      1,
      'plantstore-server: cannot write to standard output: the reader has closed it\n',
    ]);
  });
});

describe('backup and restore', () => {
  it('backup copies the plants of a running server, and restore creates a database of them once the old one is moved away', async () => {
    const cwd = await newFolder();
    const server = await startProgram({ args: ['--database', `sqlite:${join(cwd, 'plants.db')}`] });
    await post(server.url, '{"id":1,"name":"a"}');
    expect(await runCommand(['backup', 'b.db'], { cwd })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^b\.db: 1 plant, \d+ bytes, checked\n$/),
      stderr: '',
    });
    await post(server.url, '{"id":2,"name":"b"}');
    const taken = await runCommand(['backup', 'b.db'], { cwd });
    expect(taken.status).toBe(1);
    expect(taken.stderr).toMatch(/b\.db already exists; name another file\n$/);

    const refused = await runCommand(['restore', 'b.db'], { cwd });
    const path = await realpath(join(cwd, 'plants.db'));
    const advice = `mkdir elsewhere && mv '${path}'* elsewhere/`;
    expect([refused.status, refused.stderr]).toEqual([
      1,
      `plantstore-server: ${path} already exists; stop the server, then move the database and the files beside it to a new folder: ${advice}\n`,
    ]);
    server.process.kill('SIGKILL');
    await server.exited;
    expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
    expect((await runCommand(['restore', 'b.db'], { cwd })).status).toBe(1);
    await run('sh', ['-c', advice], { cwd });
    expect(await runCommand(['restore', 'b.db'], { cwd })).toEqual({
      status: 0,
      stdout: 'plants.db: 1 plant, checked\n',
      stderr: '',
    });
    // Followed again, the advice would replace the database that was moved first.
    await expect(run('sh', ['-c', advice], { cwd })).rejects.toThrow('File exists');
    expect((await runCommand(['export'], { cwd })).stdout).toBe('{"id":1,"name":"a"}\n');
    const moved = ['--database', 'sqlite:elsewhere/plants.db'];
    expect((await runCommand(['export', ...moved], { cwd })).stdout).toBe(
      '{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n',
    );
    const again = await startProgram({ args: ['--database', `sqlite:${path}`] });
    expect((await post(again.url, '{"id":3,"name":"c"}')).status).toBe(200);
  });

  it('backup and restore name a file system without hard links, and leave nothing on it', async ({
    skip,
  }) => {
    const cwd = await newFolder();
    await runCommand(['import'], { cwd, stdin: '{"id":1,"name":"a"}' });
    await runCommand(['backup', 'a.db'], { cwd });
    const before = await readdir(cwd);
    const inject = [
      '-f',
      '-qq',
      '-o',
      join(await newFolder(), 'trace'),
      '-e',
      'inject=/^link:error=EPERM',
    ];
    const args = [bin, 'backup', 'b.db', '--database', 'sqlite:a.db'];
    const started = run('strace', [...inject, process.execPath, ...args], { cwd });
    const { code, stderr } = (await started.catch((error: unknown) => error)) as Failure;
    if (code === 'ENOENT') return skip('this machine has no strace');
    expect([code, stderr]).toEqual([
      1,
      `plantstore-server: ${await realpath(cwd)}/b.db is on a file system without hard links, so a file cannot be named without replacing another; name a file on another disk, and copy it from there\n`,
    ]);
    expect(await readdir(cwd)).toEqual(before);
  });
});

describe('check', () => {
  it('check finds a damaged page, with status 1', async () => {
    const cwd = await newFolder();
    const name = "Ada's plants.db";
    const database = ['--database', `sqlite:${name}`];
    const plants = Array.from({ length: 5_000 }, (_, index) => ({ id: index - 2_500, name: 'x' }));
    const stdin = plants.map((plant) => `${JSON.stringify({ ...plant, tag: 'y'.repeat(60) })}\n`);
    await runCommand(['import', ...database], { cwd, stdin: stdin.join('') });
    const sound = await runCommand(['check', ...database], { cwd });
    expect(sound).toMatchObject({ status: 0, stderr: '' });
    expect(sound.stdout).toMatch(
      /^Ada's plants\.db: 5000 plants, \d+ bytes, and 0 in its WAL file\nsound\n$/,
    );

    const file = await open(join(cwd, name), 'r+');
    await file.write(Buffer.alloc(4_096, 0xff), 0, 4_096, 20 * 4_096);
    await file.close();
    const { status, stdout, stderr } = await runCommand(['check', ...database], { cwd });
    expect([status, stderr]).toEqual([
      1,
      `plantstore-server: ${name} is damaged: restore a backup, or rescue its plants with sqlite3 .recover from a copy of the file and its WAL\n`,
    ]);
    expect(stdout).toContain('page');
    const whole = await runCommand(['export', ...database], { cwd });
    expect(whole.status).toBe(1);
    expect(whole.stderr).toMatch(/damaged.*; \d+ plants were read before/);
  });
});
