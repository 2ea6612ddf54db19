import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bin, startProgram, untilLogged } from './program.ts';

const program = [process.execPath, bin];

/** Starts a server that may open so many files. */
const startWith = async (openFiles: number, ...args: readonly string[]) =>
  startProgram({
    command: ['sh', '-c', `ulimit -n ${openFiles} && exec "$@"`, 'sh', ...program],
    args: ['--database', 'memory:', ...args],
  });

const isLinux = process.platform === 'linux';

describe('a server with a low limit of open files', () => {
  it('a server with a low limit of open files logs a warning at its start, with the limit and the number that it needs', async ({
    skip,
  }) => {
    skip(!isLinux, 'only Linux shows the limit');
    const server = await startWith(149, '--max-connections', '50');
    await untilLogged(server, 'the limit of open files is too low');
    const line = server
      .stdout()
      .split('\n')
      .find((text) => text.includes('open files'));
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 'warn', limit: 149, needed: 150 });
  });

  it('a server whose limit of open files suffices logs no warning', async ({ skip }) => {
    skip(!isLinux, 'only Linux shows the limit');
    const server = await startWith(150, '--max-connections', '50');
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(server.stdout()).not.toContain('open files');
  });

  it('a server with a low limit of open files serves as many connections as the warning says', async ({
    skip,
  }) => {
    skip(!isLinux, 'only Linux shows the limit');
    const { port } = await startWith(150, '--max-connections', '50');
    const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    const responses = sockets.map(async (socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const [bytes] = (await once(socket, 'data')) as [Buffer];
      return bytes.toString('latin1', 0, 12);
    });
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['HTTP/1.1 404']));
  });
});
