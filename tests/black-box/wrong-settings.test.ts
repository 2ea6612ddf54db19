import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { newFolder, spawnProgram, startProgram } from './program.ts';

const run = async (args: readonly string[], env: Record<string, string> = {}) => {
  const server = spawnProgram({ args, env });
  const status = await server.exited;
  return { status, stdout: server.stdout(), lines: server.stderr().trimEnd().split('\n') };
};

describe('server', () => {
  it('the server reports all wrong settings together, with exit status 2', async () => {
    const { status, stdout, lines } = await run(['--port', 'x', '--colour', '--log=xml'], {
      PLANTSTORE_MAX_BODY_BYTES: '-1',
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'plantstore-server: unknown',
      'plantstore-server: --port',
      'plantstore-server: PLANTSTORE_MAX_BODY_BYTES',
      'plantstore-server: --log',
    ]);
  });

  it('the server suggests the nearest option for a misspelt one, only once', async () => {
    expect(await run(['--prot', '8080', '--prot=8081', '--colour', 'green'])).toEqual({
      status: 2,
      stdout: '',
      lines: [
        'plantstore-server: unknown option --prot; did you mean --port?',
        'plantstore-server: unknown option --colour; see --help',
      ],
    });
  });

  it('the server exits with 2 if its host has no address', async () => {
    expect(await run(['--database', 'memory:', '--host', 'no-such-host..invalid'])).toEqual({
      status: 2,
      stdout: '',
      lines: [
        'plantstore-server: cannot serve plants (--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT): no-such-host..invalid:3000 has an unknown host name; choose another host',
      ],
    });
  });

  it('the server leaves no WAL file if its port is in use', async () => {
    const { port } = await startProgram({ args: ['--database', 'memory:'] });
    const folder = await newFolder();
    const database = `sqlite:${join(folder, 'plants.db')}`;
    expect((await run(['--database', database, '--port', String(port)])).status).toBe(1);
    expect(await readdir(folder)).toEqual(['plants.db', 'plants.db-owner']);
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
    expect(lines[0]).toMatchObject({ message: 'accepting plants' });
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([
      {
        time: expect.any(String) as unknown,
        level: 'warn',
        message: 'unknown variable PLANTSTORE_MAXIN_FLIGHT; did you mean PLANTSTORE_MAX_IN_FLIGHT?',
      },
    ]);
    expect(server.stdout() + server.stderr()).not.toContain('s3cr3t');
  });

  it('the server warns of a misspelt variable also if it cannot start', async () => {
    const folder = await newFolder();
    const failed = await run(['--database', `sqlite:${folder}`], { PLANTSTORE_PROT: '0' });
    expect(failed.status).toBe(1);
    expect(failed.stdout).toContain(
      'unknown variable PLANTSTORE_PROT; did you mean PLANTSTORE_PORT?',
    );
    const wrong = await run(['--port', 'x'], { PLANTSTORE_PROT: '0' });
    expect(wrong.lines).toEqual([
      'plantstore-server: --port must be a whole number from 0 to 65535, not "x"',
      'plantstore-server: warning: unknown variable PLANTSTORE_PROT; did you mean PLANTSTORE_PORT?',
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

  it.each<[string, RegExp, (folder: string) => Promise<string[]>]>([
    [
      'the port is in use',
      /cannot serve plants \(--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT\): 127\.0\.0\.1:\d+ is taken by another process; choose another port$/,
      async () => {
        const { port } = await startProgram({ args: ['--database', 'memory:'] });
        return ['--database', 'memory:', '--port', String(port)];
      },
    ],
    [
      'the tokens file does not exist',
      /cannot use the tokens file \(--tokens-file, PLANTSTORE_TOKENS_FILE\): .*tokens does not exist; name a file with one token per line$/,
      async (folder) => ['--tokens-file', join(folder, 'tokens')],
    ],
    [
      'the tokens file has no tokens',
      /cannot use the tokens file \(--tokens-file, PLANTSTORE_TOKENS_FILE\): .*tokens has no token: write one per line$/,
      async (folder) => {
        await writeFile(join(folder, 'tokens'), '# none\n');
        return ['--tokens-file', join(folder, 'tokens')];
      },
    ],
    [
      'the database is not a SQLite file',
      /cannot open the database \(--database, PLANTSTORE_DATABASE\): .*plants\.db is not a SQLite database; name another file$/,
      async (folder) => {
        await writeFile(join(folder, 'plants.db'), 'buy milk\n'.repeat(100));
        return ['--database', `sqlite:${join(folder, 'plants.db')}`];
      },
    ],
    [
      'the database belongs to another application',
      /cannot open the database \(--database, PLANTSTORE_DATABASE\): .* is the database of another application/,
      async (folder) => {
        const database = new DatabaseSync(join(folder, 'plants.db'));
        database.exec('CREATE TABLE notes (text TEXT)');
        database.close();
        return ['--database', `sqlite:${join(folder, 'plants.db')}`];
      },
    ],
    [
      'the database is in use',
      /cannot open the database \(--database, PLANTSTORE_DATABASE\): .* is in use, by another process or by this one/,
      async (folder) => {
        const args = ['--database', `sqlite:${join(folder, 'plants.db')}`];
        await startProgram({ args });
        return args;
      },
    ],
    [
      'the database is a folder',
      /cannot open the database \(--database, PLANTSTORE_DATABASE\): .* is a folder, not a file; name a file in it$/,
      async (folder) => {
        await mkdir(join(folder, 'plants.db'));
        return ['--database', `sqlite:${join(folder, 'plants.db')}`];
      },
    ],
    [
      'the folder of the database does not exist',
      /cannot open the database \(--database, PLANTSTORE_DATABASE\): the folder .* does not exist; make it first$/,
      async (folder) => ['--database', `sqlite:${join(folder, 'no/plants.db')}`],
    ],
  ])('the server reports in one line that %s, with exit status 1', async (_, message, argsIn) => {
    const args = await argsIn(await newFolder());
    const { status, stdout, lines } = await run(args, { PLANTSTORE_PORT: '0' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(lines).toEqual([expect.stringMatching(message)]);
  });
});
