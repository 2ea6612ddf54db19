import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { requiresOpenssl, makeCertificate } from '@plantstore/test-support/certificate';
import { connectRaw, connectTls, parseResponses } from '@plantstore/test-support/raw-http';
import { requiresRoot } from '@plantstore/test-support/requires';
import { ResultAsync } from 'neverthrow';
import { describe, expect, it, onTestFinished } from 'vitest';
import { goodFields, head } from '../../test/listen.ts';
import { recordEvents } from '../../test/record-events.ts';
import { until as untilTrue } from '@plantstore/test-support/record-log';
import { startServer, type StartServerOptions } from './start-server.ts';

const run = promisify(execFile);

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
  return started.value;
};

/** Returns a repository whose creates complete when `open` is called. */
const withGate = () => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const inner = createMemoryRepository();
  const repository: PlantRepository = {
    create(plant) {
      arrived.resolve();
      return ResultAsync.fromSafePromise(gate.promise).andThen(() => inner.create(plant));
    },
  };
  return { repository, open: gate.resolve, arrived: arrived.promise };
};

const post = async (url: string) =>
  fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json' },
    body: '{"id":7,"name":"x"}',
  });

const portOf = (url: string) => Number(new URL(url).port);

const get = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n';

/** Opens a connection that has received a response and is idle. */
const connectIdle = async (url: string) => {
  const connection = await connectRaw(portOf(url));
  connection.socket.write(get);
  await connection.until((text) => text.endsWith('}'));
  return connection;
};

/** None on a machine without IPv6. */
const ipv6Hosts = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
  ? ['::1', '::']
  : [];

describe('startServer', () => {
  it('startServer returns the URL of the operation', async () => {
    const { url } = await running({ basePath: '/garden/' });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/garden\/plants$/);
    expect((await post(url)).status).toBe(200);
  });

  it.each(['/100%25', '/a%3Fb', "/it's a garden", '/é'])(
    'startServer serves the base path %s at its URL',
    async (basePath) => {
      const { url } = await running({ basePath });
      expect(new URL(url).href).toBe(url);
      expect((await post(url)).status).toBe(200);
    },
  );

  it.each<[string, string]>([
    ['127.0.0.1', '0.0.0.0'],
    ...ipv6Hosts.map((host): [string, string] => ['[::1]', host]),
  ])('startServer returns a URL on %s if it listens on %s', async (hostname, host) => {
    const server = await running({ host });
    expect(server.host).toBe(host);
    expect(new URL(server.url).hostname).toBe(hostname);
    expect((await post(server.url)).status).toBe(200);
  });

  const withoutIPv6 =
    'ip link set lo up && sysctl -q net.ipv6.conf.all.disable_ipv6=1 && exec "$@"';
  it.for([
    ['without an IPv6 address', '::', ['unshare', '--net', 'sh', '-c', withoutIPv6, 'sh']],
    [
      'where :: cannot be bound',
      '0.0.0.0',
      ['strace', '-fqqo', '/dev/null', '--inject=bind:error=EADDRNOTAVAIL:when=1'],
    ],
  ] as const)(
    'startServer on :: returns a URL that a machine %s has',
    requiresRoot,
    async ([, host, [command, ...args]], { skip }) => {
      const script = `
        import { createMemoryRepository } from '@plantstore/core';
        import { startServer } from '@plantstore/server';
        const repository = createMemoryRepository();
        const server = (await startServer({ repository, authenticate: () => true, host: '::', port: 0 }))._unsafeUnwrap();
        const { status } = await fetch(server.url);
        console.log(server.host, server.url, status);
        await server.close();`;
      const node = ['--conditions=@plantstore/source', '--input-type=module', '--eval', script];
      const started = run(command, [...args, process.execPath, ...node], {
        cwd: import.meta.dirname,
      });
      const { code, stdout, stderr } = await started.then(
        (output) => ({ ...output, code: undefined }),
        (error: unknown) =>
          error as { readonly code: unknown; readonly stdout: string; readonly stderr: string },
      );
      if (code === 'ENOENT' || /not permitted|Read-only/.test(stderr))
        return skip(`this machine has no ${command}, or forbids it`);
      expect(stdout).toMatch(new RegExp(`^${host} http://127\\.0\\.0\\.1:\\d+/plants 405\n$`));
    },
  );

  it('startServer reports why it cannot listen', async () => {
    const port = portOf((await running()).url);
    expect((await start({ port }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-listen',
      message: `127.0.0.1:${port} is taken by another process; choose another port`,
    });
    expect((await start({ host: '192.0.2.1' }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-listen',
      message: expect.stringContaining('is not an address of this machine') as unknown,
    });
    expect((await start({ host: '2001:db8::1' }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'cannot-listen',
      message: expect.stringMatching(/^\[2001:db8::1\]:0 /) as unknown,
    });
  });
});

describe('startServer with a wrong option', () => {
  it.each([70_000, -1, 1.5, Number.NaN, '80'])(
    'startServer throws a TypeError for the port %j',
    async (port) => {
      await expect(start({ port: port as number })).rejects.toThrow(
        'port must be a whole number from 0 to 65535',
      );
    },
  );

  it.each(['', 5])(
    'startServer throws a TypeError for the host %j, with which Node would listen on all addresses',
    async (host) => {
      await expect(start({ host: host as string })).rejects.toThrow('host must be');
    },
  );

  it.each([-1, 1.5, '3'])('startServer throws a TypeError for the descriptor %j', async (fd) => {
    await expect(start({ fd: fd as number })).rejects.toThrow('fd must be a file descriptor');
  });

  it('startServer throws a TypeError for a logger without methods', async () => {
    await expect(start({ logger: {} as never })).rejects.toThrow('logger must have info, warn and');
  });
});

describe('graceful shutdown', () => {
  it('the graceful shutdown resolves after it has logged the aborted requests', async () => {
    const events = recordEvents();
    const logged: unknown[] = [];
    const info = (_: unknown, message: string) => void logged.push(message);
    const { url, close, usage } = await running({ logger: { info, warn: info, error: info } });
    const { socket } = await connectRaw(portOf(url));
    socket.write(
      'POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    await untilTrue(() => events.length > 0);
    await close(50);
    expect(logged).toEqual(['request cut: the server stopped before its response']);
    expect(usage().cut).toBe(1);
  });

  it('the graceful shutdown waits for requests in flight without a deadline', async () => {
    const { repository, open, arrived } = withGate();
    const { url, close } = await running({ repository });
    const pending = post(url);
    await arrived;
    const closed = close(Infinity);
    // Node would replace a delay of Infinity by 1 ms.
    await new Promise((resolve) => setTimeout(resolve, 50));
    open();
    expect((await pending).status).toBe(200);
    await closed;
  });

  it('the graceful shutdown responds to requests in flight with Connection: close', async () => {
    const { repository, open, arrived } = withGate();
    const { url, close } = await running({ repository });
    const pending = post(url);
    await arrived;
    const closed = close();
    await expect(post(url)).rejects.toThrow('fetch failed');
    open();
    const response = await pending;
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });

  it('the graceful shutdown responds to every request that is already pipelined', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectIdle(url);
    const closed = close();
    socket.write(get.repeat(10));
    const received = parseResponses(await ended).slice(1);
    expect(received.map(({ headers }) => headers['connection'])).toEqual([
      ...Array<string>(9).fill('keep-alive'),
      'close',
    ]);
    socket.destroy();
    await closed;
  });

  it('the graceful shutdown responds to a request that arrives on an idle connection', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectIdle(url);
    const closed = close();
    socket.write(get);
    expect(parseResponses(await ended)).toMatchObject([
      { status: 405, headers: { connection: 'keep-alive' } },
      { status: 405, headers: { connection: 'close' } },
    ]);
    socket.destroy();
    await closed;
  });

  it('the graceful shutdown responds to a request that arrives while the event loop is blocked', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectIdle(url);
    const closed = close();
    socket.write(get);
    // Longer than idle connections are kept open.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(parseResponses(await ended).map(({ status }) => status)).toEqual([405, 405]);
    socket.destroy();
    await closed;
  });

  it('the graceful shutdown sends a large response completely to a slow client', async () => {
    const { url, close } = await running({ maxBodyBytes: 30_000_000 });
    const { socket, received, ended } = await connectRaw(portOf(url));
    const body = `{"id":1,"name":"${'x'.repeat(20_000_000)}"}`;
    socket.write(head([...goodFields, `Content-Length: ${body.length}`]) + body);
    socket.once('data', () => socket.pause());
    await once(socket, 'data');
    const idle = await connectIdle(url);
    const closed = close();
    // Idle connections end first, so that the reading client must still be connected now.
    await idle.ended;
    idle.socket.destroy();
    socket.resume();
    await ended;
    expect(parseResponses(received())[0]?.body.length).toBe(body.length - '"id":1,'.length);
    socket.destroy();
    await closed;
  });

  it('the graceful shutdown ends idle connections', async () => {
    const { url, close } = await running();
    const { socket, ended } = await connectRaw(portOf(url));
    await close();
    expect(await ended).toBe('');
    socket.destroy();
  });

  it('the graceful shutdown aborts requests that are in flight at the deadline', async () => {
    const { repository, open, arrived } = withGate();
    const { url, close } = await running({ repository });
    const pending = post(url);
    const cutOff = arrived.then(async () => close(10));
    await expect(pending).rejects.toThrow('fetch failed');
    await cutOff;
    open();
  });
});

describe('server with TLS', requiresOpenssl, () => {
  /** Opens a TLS connection that has received a response and is idle. */
  const connectIdleTls = async (url: string) => {
    const connection = await connectTls(portOf(url));
    connection.socket.write(get);
    await connection.until((text) => text.endsWith('}'));
    return connection;
  };

  it('a server with TLS has an https URL', async () => {
    const { url } = await running({ tls: await makeCertificate(), basePath: '/garden' });
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/garden\/plants$/);
  });

  it('a server with TLS uses a renewed certificate for new connections, and keeps open ones', async () => {
    const { url, renewTls } = await running({ tls: await makeCertificate('old') });
    const open = await connectIdleTls(url);
    expect(renewTls(await makeCertificate('new'))).toEqual({ kind: 'renewed' });
    const next = await connectIdleTls(url);
    expect(next.socket.getPeerCertificate().subject.CN).toBe('new');
    expect(next.socket.getProtocol()).toBe('TLSv1.3');
    open.socket.write(get);
    expect(await open.until((text) => parseResponses(text).length === 2)).toMatch(/\}$/);
    expect(open.socket.getPeerCertificate().subject.CN).toBe('old');
    open.socket.destroy();
    next.socket.destroy();
  });

  it('a server with TLS keeps its certificate if the new one is invalid', async () => {
    const [old, other] = [await makeCertificate('old'), await makeCertificate()];
    const { url, renewTls } = await running({ tls: old });
    for (const wrong of [
      { ...old, key: other.key },
      { ...old, cert: 'nonsense' },
    ]) {
      expect(renewTls(wrong)).toMatchObject({ kind: 'not-renewed' });
    }
    const { socket } = await connectIdleTls(url);
    expect(socket.getPeerCertificate().subject.CN).toBe('old');
    socket.destroy();
  });

  it('a server that was started without tls does not renew a certificate', async () => {
    const { renewTls } = await running();
    expect(renewTls(await makeCertificate())).toEqual({
      kind: 'not-renewed',
      message: 'the server was started without tls',
    });
  });

  it('a server with TLS responds to requests in flight on close(), and ends silent connections and handshakes', async () => {
    const { repository, open, arrived } = withGate();
    const { url, close } = await running({ repository, tls: await makeCertificate() });
    const silent = await connectTls(portOf(url));
    const mute = await connectRaw(portOf(url));
    const half = await connectRaw(portOf(url));
    // The head of a TLS record without its body.
    half.socket.write(Uint8Array.of(0x16, 3, 1, 0, 200, 1));
    const { socket, until } = await connectTls(portOf(url));
    const body = '{"id":7,"name":"x"}';
    socket.write(
      `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await arrived;
    const closed = close(60_000);
    expect(await Promise.all([silent, mute, half].map(async ({ ended }) => ended))).toEqual([
      '',
      '',
      '',
    ]);
    open();
    expect(parseResponses(await until((text) => text.endsWith('}')))).toMatchObject([
      { status: 200, headers: { connection: 'close' } },
    ]);
    await closed;
    for (const one of [silent, mute, half]) one.socket.destroy();
    socket.destroy();
  });

  it('a server with TLS aborts a handshake at the deadline', async () => {
    const { url, close } = await running({ tls: await makeCertificate() });
    const { socket, ended } = await connectRaw(portOf(url));
    socket.write(Uint8Array.of(0x16, 3, 1));
    await close(0);
    expect(await ended).toBe('');
    socket.destroy();
  });
});
