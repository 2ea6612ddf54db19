import { createMemoryRepository } from '@plantstore/core';
import { connectRaw, parseResponses } from '@plantstore/test-support/raw-http';
import { requiresLinux } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer, type StartServerOptions } from './start-server.ts';

const start = async (options: Partial<StartServerOptions>) => {
  const started = await startServer({
    repository: createMemoryRepository(),
    authenticate: () => true,
    ...options,
  });
  if (started.isOk()) onTestFinished(async () => started.value.close(0));
  return started;
};

const running = async (port: number, basePath: string) => {
  const started = await start({ port, basePath, reusePort: true });
  if (started.isErr()) throw new Error(started.error.message);
  return { ...started.value, port: Number(new URL(started.value.url).port) };
};

/** Returns, for each new connection, which of the two servers accepted it. */
const serversOf = async (port: number, connections: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: connections }, async () => {
      const { socket, ended } = await connectRaw(port);
      socket.write('GET /one/plants HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      const [response] = parseResponses(await ended);
      socket.destroy();
      return response?.status === 405 ? 'one' : 'two';
    }),
  );

// Windows and macOS do not support reusePort.
describe('servers with reusePort', requiresLinux, () => {
  it('servers with reusePort listen on one port and share its connections', async () => {
    const { port } = await running(0, '/one');
    await running(port, '/two');
    // The probability that one of them accepts all connections is 2^-63.
    expect(new Set(await serversOf(port, 64))).toEqual(new Set(['one', 'two']));
  });

  it('servers with reusePort keep listening when another one closes', async () => {
    const { port, close } = await running(0, '/one');
    await running(port, '/two');
    await close();
    expect(new Set(await serversOf(port, 64))).toEqual(new Set(['two']));
  });

  it('servers with reusePort share the port only with servers with reusePort', async () => {
    const { port } = await running(0, '/one');
    expect((await start({ port }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-listen',
      message: `127.0.0.1:${port} is taken by another process; choose another port`,
    });
    const alone = await start({ port: 0 });
    if (alone.isErr()) throw new Error(alone.error.message);
    const { port: taken } = new URL(alone.value.url);
    expect(
      (await start({ port: Number(taken), reusePort: true }))._unsafeUnwrapErr(),
    ).toMatchObject({
      kind: 'cannot-listen',
      message: `127.0.0.1:${taken} is taken by another process; choose another port`,
    });
  });
});

it.each(['on', 1, null])(
  'startServer throws a TypeError for the reusePort %j',
  async (reusePort) => {
    await expect(start({ port: 0, reusePort: reusePort as never })).rejects.toThrow(
      'reusePort must be true or false',
    );
  },
);
