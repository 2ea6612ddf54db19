import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { createMemoryRepository } from '@plantstore/core';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { requiresLinux, requiresRoot } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  connectTo,
  goodFields,
  head,
  post as rawPost,
  responses,
  statusesOf,
} from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import { startServer, type StartServerOptions } from './start-server.ts';

const start = async (options: Partial<StartServerOptions> = {}) =>
  startServer({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    port: 0,
    ...options,
  });

const running = async (options: Partial<StartServerOptions> = {}) => {
  const started = await start(options);
  if (started.isErr()) throw new Error(started.error.message);
  onTestFinished(async () => started.value.close(0));
  return { ...started.value, port: Number(new URL(started.value.url).port) };
};

const post = async (url: string) =>
  fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json' },
    body: '{"id":7,"name":"x"}',
  });

const get = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n';

/** Opens a connection that has received a response and is idle. */
const connectIdle = async (port: number) => {
  const connection = await connectTo(port);
  connection.socket.write(get);
  await connection.until(responses(1));
  return connection;
};

/** None on a machine without IPv6. */
const ipv6Hosts: [string, string][] = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
  ? [
      ['[::1]', '::1'],
      ['localhost', '::'],
    ]
  : [];

describe('startServer', () => {
  it.each(['', '/garden/', '/100%25', '/a%3Fb', "/it's a garden", '/é'])(
    'startServer serves the base path %j at its URL',
    async (basePath) => {
      const { url } = await running({ basePath });
      expect(new URL(url).href).toBe(url);
      expect((await post(url)).status).toBe(200);
      expect((await post(`${url}/`)).status).toBe(404);
    },
  );

  it.each([['127.0.0.1', '0.0.0.0'], ...ipv6Hosts])(
    'startServer returns a URL on %s if it listens on %s',
    async (hostname, host) => {
      const server = await running({ host });
      expect(server.host).toBe(host);
      expect(new URL(server.url).hostname).toBe(hostname);
      expect((await post(server.url)).status).toBe(200);
    },
  );

  it.for([
    [
      'listens on 0.0.0.0 if :: cannot be bound',
      'bind:error=EADDRNOTAVAIL:when=1',
      '::',
      /^0\.0\.0\.0 http:\/\/127\.0\.0\.1:\d+\/plants 405\n$/,
    ],
    [
      'names the limit if too many files are open',
      'socket:error=EMFILE',
      '::1',
      /^\[::1\]:0: too many open files; raise the limit of open files\n$/,
    ],
  ] as const)('startServer %s', requiresRoot, async ([, fault, host, printed], { skip }) => {
    const args = ['-fqqo', '/dev/null', `--inject=${fault}`];
    const script = `
      import { createMemoryRepository } from '@plantstore/core';
      import { startServer } from '@plantstore/server';
      const repository = createMemoryRepository();
      const started = await startServer({ repository, authenticate: () => true, host: '${host}', port: 0 });
      if (started.isErr()) console.log(started.error.message);
      else {
        const { host, url, close } = started.value;
        console.log(host, url, (await fetch(url)).status);
        await close();
      }`;
    const node = ['--conditions=@plantstore/source', '--input-type=module', '--eval', script];
    const cwd = import.meta.dirname;
    const all = [...args, process.execPath, ...node];
    const started = promisify(execFile)('strace', all, { cwd });
    const { code, stdout, stderr } = await started.then(
      (output) => ({ ...output, code: undefined }),
      (error: unknown) =>
        error as { readonly code: unknown; readonly stdout: string; readonly stderr: string },
    );
    if (code === 'ENOENT' || /not permitted|Read-only/.test(stderr))
      return skip('this machine has no strace, or forbids it');
    expect(stdout).toMatch(printed);
  });

  it('startServer reports why it cannot listen', async () => {
    const { port } = await running();
    const { port: shared } = await running({ reusePort: true });
    for (const [options, message] of [
      [{ port }, `127.0.0.1:${port}: address already in use; choose another host or port`],
      [{ port, reusePort: true }, `127.0.0.1:${port}: address already in use; choose another`],
      [{ port: shared }, `127.0.0.1:${shared}: address already in use; choose another host`],
      [{ host: '192.0.2.1' }, '192.0.2.1:0: address not available; choose another host or port'],
      [{ host: '2001:db8::1' }, '[2001:db8::1]:0: address not available; choose another'],
      [{ host: 'no-such-host.invalid' }, 'no-such-host.invalid:0: '],
      [{ fd: 0 }, 'file descriptor 0 is not a listening TCP socket'],
    ] as const) {
      const error = (await start(options))._unsafeUnwrapErr();
      expect(error.kind).toBe('cannot-listen');
      expect(error.message).toContain(message);
    }
  });

  // Windows and macOS do not support reusePort.
  it(
    'startServer with reusePort shares a port, until one of the servers closes',
    requiresLinux,
    async () => {
      const { port, close } = await running({ reusePort: true, basePath: '/one' });
      await running({ port, reusePort: true, basePath: '/two' });
      const connectMany = async () => {
        const request = head(['Host: a', 'Connection: close'], 'GET /one/plants HTTP/1.1');
        // The probability that one of them accepts all connections is 2^-63.
        const all = await Promise.all(
          Array.from({ length: 64 }, async () => sendRaw(port, request)),
        );
        return new Set(all.map(({ status }) => status));
      };
      expect(await connectMany()).toEqual(new Set([405, 404]));
      await close();
      expect(await connectMany()).toEqual(new Set([404]));
    },
  );
});

describe('graceful shutdown', () => {
  /** Sends a request that is being stored, and half of another one. */
  const inFlight = async () => {
    const { repository, until, completeAll } = onDemand();
    const { logged, logger } = recordLog();
    const server = await running({ repository, logger });
    const storing = await connectTo(server.port);
    storing.socket.write(rawPost(7));
    const arriving = await connectTo(server.port);
    arriving.socket.write(`${head([...goodFields, 'Content-Length: 9'])}{`);
    await until(1);
    await expect.poll(() => server.usage().inFlight).toBe(2);
    return { ...server, logged, storing, arriving, completeAll };
  };

  it('the graceful shutdown cuts the requests that are in flight at the deadline, and logs them before it resolves', async () => {
    const { close, usage, logged, storing, arriving, completeAll } = await inFlight();
    const closed = close(50);
    expect(await Promise.all([storing.ended, arriving.ended])).toEqual(['', '']);
    completeAll();
    await closed;
    expect(usage().cut).toBe(2);
    const cut = { message: 'request cut: the server stopped before its response', level: 'warn' };
    expect(logged).toMatchObject([cut, cut]);
  });

  it('the graceful shutdown waits for requests in flight without a deadline, and accepts no connection', async () => {
    const { url, close, storing, arriving, completeAll } = await inFlight();
    const closed = close(Infinity);
    await expect(post(url)).rejects.toThrow('fetch failed');
    // Node would replace a delay of Infinity by 1 ms.
    await new Promise((resolve) => void setTimeout(resolve, 50));
    completeAll();
    arriving.socket.write('        ');
    const received = await Promise.all([storing.ended, arriving.ended]);
    expect(received.map(statusesOf)).toEqual([[200], [400]]);
    for (const text of received) expect(text).toContain('Connection: close');
    storing.socket.destroy();
    arriving.socket.destroy();
    await closed;
  });

  it('the graceful shutdown responds to every request that is already pipelined', async () => {
    const { port, close } = await running();
    const { socket, ended } = await connectIdle(port);
    const closed = close();
    socket.write(get.repeat(10));
    const [before, ...after] = (await ended).split('HTTP/1.1 405').slice(1).toReversed();
    expect(before).toContain('Connection: close');
    expect(after).toHaveLength(10);
    for (const text of after) expect(text).toContain('Connection: keep-alive');
    socket.destroy();
    await closed;
  });

  it('the graceful shutdown responds to a request that arrives on an idle connection while the event loop is blocked', async () => {
    const { port, close } = await running();
    const { socket, ended } = await connectIdle(port);
    const closed = close();
    socket.write(get);
    // Longer than idle connections are kept open.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(statusesOf(await ended)).toEqual([405, 405]);
    socket.destroy();
    await closed;
  });

  it('the graceful shutdown sends a large response completely to a slow client', async () => {
    const { port, close } = await running({ maxBodyBytes: 30_000_000 });
    const { socket, received, ended } = await connectTo(port);
    const body = `{"id":1,"name":"${'x'.repeat(20_000_000)}"}`;
    socket.write(head([...goodFields, `Content-Length: ${body.length}`]) + body);
    socket.once('data', () => socket.pause());
    await once(socket, 'data');
    const idle = await connectIdle(port);
    const closed = close();
    // Idle connections end first, so that the reading client must still be connected now.
    await idle.ended;
    idle.socket.destroy();
    socket.resume();
    await ended;
    expect(received().length).toBeGreaterThan(20_000_000);
    expect(received()).toMatch(/x"}$/);
    socket.destroy();
    await closed;
  });
});
