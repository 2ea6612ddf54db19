import { readdir, writeFile } from 'node:fs/promises';
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
  it('the server reports all wrong settings together, and a misspelt variable, with exit status 2', async () => {
    const env = { PLANTSTORE_MAX_BODY_BYTES: '-1', PLANTSTORE_PROT: '0' };
    const { status, stdout, lines } = await run(['--port', 'x', '--log=xml'], env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'plantstore: --port',
      'plantstore: PLANTSTORE_MAX_BODY_BYTES',
      'plantstore: --log',
      'plantstore: warning:',
    ]);
  });

  it.each([
    ['PLANTSTORE_DATABASE', 'sqlite:pfl\\344nze.db', []],
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
    // Kubernetes sets the other variable for a service of this name.
    const env = { PLANTSTORE_MAXIN_FLIGHT: 's3cr3t', PLANTSTORE_SERVICE_HOST: '10.0.0.1' };
    const server = await startProgram({ env });
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
});

const programOnly = `--allow-fs-read=${fileURLToPath(new URL('../../', import.meta.url))}*`;

it.each<readonly [string, readonly string[], readonly string[], RegExp]>([
  [
    'a server',
    ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'],
    [],
    /^plantstore: [^\n]*--allow-worker[^\n]*\n$/,
  ],
  [
    'a check of the settings',
    ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'],
    ['--check-settings'],
    /^plantstore: [^\n]*--allow-worker[^\n]*\n$/,
  ],
  [
    'an export',
    ['--permission', programOnly],
    ['export'],
    /^plantstore: [^\n]*--permission[^\n]*--allow-fs-read[^\n]*\n$/,
  ],
  [
    'a server',
    ['--no-experimental-sqlite'],
    [],
    /^plantstore: [^\n]*start Node without --no-experimental-sqlite[^\n]*\n$/,
  ],
])('%s with %j reports in one line that Node denies it', async (_, nodeArgs, args, message) => {
  const database = `sqlite:${join(await newFolder(), 'plants.db')}`;
  const { exited, stderr } = spawnProgram({ nodeArgs, args: [...args, '--database', database] });
  expect(await exited).toBe(1);
  expect(stderr()).toMatch(message);
});

it.each(['--port=0', 'backup x.db'])(
  'the program reports in one line that its working directory was removed (%s)',
  async (line) => {
    const cwd = await newFolder();
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const command = ['sh', '-c', script, 'sh', process.execPath, bin] as const;
    const { exited, stderr } = spawnProgram({ command, args: line.split(' '), cwd });
    expect(await exited).toBe(1);
    expect(stderr()).toMatch(/^plantstore: [^\n]*(working directory was removed|uv_cwd)[^\n]*\n$/);
  },
);
