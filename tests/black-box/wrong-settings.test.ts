import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bin, newFolder, spawnProgram, startProgram } from './program.ts';

const run = async (args: readonly string[], env: Record<string, string> = {}) => {
  const server = spawnProgram({ args, env });
  const status = await server.exited;
  return { status, stdout: server.stdout(), lines: server.stderr().trimEnd().split('\n') };
};

describe('server', () => {
  it('the server reports all wrong settings together, with exit status 2', async () => {
    const { status, stdout, lines } = await run(['--port', 'x', '--log=xml'], {
      PLANTSTORE_MAX_BODY_BYTES: '-1',
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'plantstore: --port',
      'plantstore: PLANTSTORE_MAX_BODY_BYTES',
      'plantstore: --log',
    ]);
  });

  it('the server leaves no WAL file if its port is in use', async () => {
    const { port } = await startProgram({ args: ['--database', 'memory:'] });
    const folder = await newFolder();
    const database = `sqlite:${join(folder, 'plants.db')}`;
    expect((await run(['--database', database, '--port', String(port)])).status).toBe(1);
    expect(await readdir(folder)).toEqual(['plants.db', 'plants.db-owner']);
  });

  it.each([
    ['PLANTSTORE_DATABASE', 'sqlite:pfl\\344nze.db', []],
    ['PLANTSTORE_TOKENS_FILE', 't\\366kens', []],
    ['PLANTSTORE_DATABASE', 'sqlite:plants.db\\r', ['check']],
  ])('the program rejects the bytes of %s=%s, and creates no file', async (name, value, args) => {
    const cwd = await newFolder();
    const script = `export ${name}="$(printf '${value}')"; exec "$@"`;
    const command = ['sh', '-c', script, 'sh', process.execPath, bin] as const;
    const { exited, stderr } = spawnProgram({ command, args, cwd });
    expect(await exited).toBe(2);
    expect(stderr()).toMatch(
      new RegExp(`^plantstore: ${name} must have no [ -~]+\\\\[ur][ -~]+\n$`),
    );
    expect(await readdir(cwd)).toEqual([]);
  });

  it('the server reads the file of --env-file, and does not start without it', async () => {
    const file = join(await newFolder(), 'settings.env');
    const args = ['--env-file', file, '--check-settings'];
    expect([2, 9]).toContain((await run(args)).status);
    const database = "'postgres://ada:a;id$(id)#b@db/garden'";
    await writeFile(file, `PLANTSTORE_DATABASE=${database}\r\nPLANTSTORE_PORT=8080\r\n`);
    const { status, stdout } = await run(args);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^--port {2,}PLANTSTORE_PORT in .*settings\.env {2,}8080$/m);
    expect(stdout).toMatch(/^--database {2,}.* {2,}postgres:\/\/db\/garden$/m);
  });

  it('the server warns of a misspelt variable after its first log line, and serves', async () => {
    const env = {
      PLANTSTORE_MAXIN_FLIGHT: 's3cr3t',
      // Kubernetes sets such variables for a service of this name.
      PLANTSTORE_SERVICE_HOST: '10.0.0.1',
      PLANTSTORE_SERVICE_PORT: '3000',
      PLANTSTORE_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
      PLANTSTORE_PORT_3000_TCP_PORT: '3000',
      PLANTSTORE_PORT_3000_TCP_ADDR: '10.0.0.1',
    };
    const server = await startProgram({ args: ['--database', 'memory:'], env });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    const logged = server.stdout().trimEnd().split('\n');
    const lines = logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toHaveProperty('url');
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([
      {
        time: expect.any(String) as unknown,
        level: 'warn',
        message: 'variables that are no settings: PLANTSTORE_MAXIN_FLIGHT; see --help',
      },
    ]);
    expect(server.stdout() + server.stderr()).not.toContain('s3cr3t');
  });

  it('the server warns of a misspelt variable also if it cannot start', async () => {
    const folder = await newFolder();
    const failed = await run(['--database', `sqlite:${folder}`], { PLANTSTORE_PROT: '0' });
    expect(failed.status).toBe(1);
    expect(failed.stdout).toContain('variables that are no settings: PLANTSTORE_PROT; see --help');
    const wrong = await run(['--port', 'x'], { PLANTSTORE_PROT: '0' });
    expect(wrong.lines).toEqual([
      'plantstore: --port must be a whole number from 0 to 65535, not "x"',
      'plantstore: warning: variables that are no settings: PLANTSTORE_PROT; see --help',
    ]);
  });

  it('the server prints its help and its version', async () => {
    expect(await run(['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('--tokens-file FILE') as unknown,
    });
    expect(await run(['--version'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as unknown,
    });
  });
});

const permission = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'];
const programOnly = fileURLToPath(new URL('../../', import.meta.url));
const needsWorker = expect.stringMatching(/--allow-worker/) as unknown;

it.each<readonly [string, readonly string[], readonly string[], unknown]>([
  ['a server', permission, [], needsWorker],
  ['a check of the settings', permission, ['--check-settings'], needsWorker],
  [
    'an export',
    ['--permission', `--allow-fs-read=${programOnly}*`],
    ['export'],
    expect.stringMatching(/--permission.*--allow-fs-read/) as unknown,
  ],
  [
    'a server',
    [
      '--permission',
      `--allow-fs-read=${programOnly}*`,
      `--allow-fs-read=${tmpdir()}/*`,
      '--allow-worker',
      '--disable-warning=PERM0006',
    ],
    ['--tokens-file=/etc/hostname'],
    expect.stringMatching(/--permission: .*--allow-fs-read.*: \/etc\/hostname$/m) as unknown,
  ],
  [
    'a server',
    ['--no-experimental-sqlite'],
    [],
    expect.stringContaining('start Node without --no-experimental-sqlite') as unknown,
  ],
])('%s with %j reports in one line that Node denies it', async (_, nodeArgs, args, message) => {
  const folder = await newFolder();
  const { exited, stderr } = spawnProgram({
    nodeArgs,
    args: [...args, '--database', `sqlite:${join(folder, 'plants.db')}`],
  });
  expect([await exited, stderr()]).toEqual([1, message]);
  expect(stderr()).toMatch(/^plantstore: [^\n]+\n$/);
});

it.each([
  '--port=0',
  '--check-settings',
  '--port=0 --database=sqlite:/plants.db',
  '--check-settings --database=sqlite:/plants.db',
  'export',
  'check',
  'backup x.db',
  'restore x.db',
])('the program reports in one line that its working directory was removed (%s)', async (line) => {
  const cwd = await newFolder();
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const command = ['sh', '-c', script, 'sh', process.execPath, bin] as const;
  const { exited, stderr } = spawnProgram({ command, args: line.split(' '), cwd });
  expect(await exited).toBe(1);
  expect(stderr()).toMatch(/^plantstore: [^\n]*(working directory was removed|uv_cwd)[^\n]*\n$/);
});
