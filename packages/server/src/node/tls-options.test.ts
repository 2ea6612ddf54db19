import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createMemoryRepository } from '@plantstore/core';
import {
  type Certificate,
  requiresOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { connectRaw, connectTls, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { ResultAsync } from 'neverthrow';
import { beforeAll, describe, expect, it } from 'vitest';
import { goodFields, head, listen, plant, post, responses } from '../../test/listen.ts';
import { createHttpServer, type HttpServerOptions } from './create-http-server.ts';
import { tlsFaultOf } from './tls-options.ts';

describe('server with TLS', requiresOpenssl, () => {
  let tls: Certificate;
  beforeAll(async () => {
    tls = await makeCertificate();
  });

  const listenTls = async (options: Partial<HttpServerOptions> = {}) => {
    const logged: unknown[] = [];
    const logger = { warn() {}, error() {}, info: (fields: unknown) => void logged.push(fields) };
    return { ...(await listen({ tls, logger, ...options })), logged };
  };

  it('a server with TLS responds to pipelined requests on one connection in order', async () => {
    const { port } = await listenTls();
    const { socket, until } = await connectTls(port);
    socket.write(
      post(1) + post(2) + head(['Host: a'], 'GET / HTTP/1.1') + 'BREW / HTTP/1.1\r\n\r\n',
    );
    const received = parseResponses(await until(responses(4))).map(({ status }) => status);
    expect(received).toEqual([200, 200, 404, 400]);
    socket.destroy();
  });

  it('a server with TLS stores the plants of pipelined requests of any size', async () => {
    const { port } = await listenTls({ maxBodyBytes: 200_000 });
    const isComplete = (text: string) => parseResponses(text).at(7)?.body.endsWith('}') === true;
    const sizes = [0, 17_000, 34_000, 10_000, 27_000, 3_000, 20_000, 37_000];
    for (const each of Array.from({ length: 10 }, () => [sizes, sizes.map(() => 100_000)]).flat()) {
      const { socket, until } = await connectTls(port);
      const requests = each.map((size, index) => {
        const body = JSON.stringify({ id: size + index, name: 'x'.repeat(size) });
        return head([...goodFields, `Content-Length: ${body.length}`]) + body;
      });
      socket.write(requests.join(''));
      const received = parseResponses(await until(isComplete)).map(({ status }) => status);
      expect(received).toEqual(Array<number>(8).fill(200));
      socket.destroy();
    }
  });

  it('a server with TLS reads at most 64 KiB of a connection while a token is checked, and the rest afterwards', async () => {
    const checked = Promise.withResolvers<boolean>();
    const { server, port } = await listenTls({ authenticate: async () => checked.promise });
    const accepted = once(server, 'secureConnection') as Promise<[Socket]>;
    const { socket, until } = await connectTls(port);
    const [peer] = await accepted;
    socket.write(post(1) + head([...goodFields, 'Content-Length: 900000']) + 'x'.repeat(900_000));
    let bytesRead = -1;
    while (bytesRead < post(1).length || bytesRead !== peer.bytesRead) {
      ({ bytesRead } = peer);
      for (let turns = 0; turns < 100; turns += 1) await nextTurn();
    }
    expect(bytesRead).toBeLessThanOrEqual(65_536);
    checked.resolve(true);
    expect(parseResponses(await until(responses(2)))).toMatchObject([
      { status: 200 },
      { status: 413 },
    ]);
    socket.destroy();
  });

  it('a server with TLS responds to a client that half-closes its connection', async () => {
    const authenticate = async () => {
      // The server reads the end of the connection meanwhile.
      await sleep(50);
      return true;
    };
    const repository = { create: () => ResultAsync.fromSafePromise<void>(sleep(50)) };
    const { port } = await listenTls({ authenticate, repository });
    const { socket, ended } = await connectTls(port);
    socket.end(post(1));
    expect(parseResponses(await ended).map(({ status }) => status)).toEqual([200]);
    socket.destroy();
  });

  it('a server with TLS sends 100 Continue only if the head is admitted', async () => {
    const { port } = await listenTls();
    const { socket, until } = await connectTls(port);
    const length = `Content-Length: ${plant(7).length}`;
    socket.write(head([...goodFields, 'Expect: 100-continue', length]));
    expect(await until((text) => text.includes('\r\n\r\n'))).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(plant(7));
    await until(responses(2));
    socket.write(head(['Host: a', 'Expect: 100-continue', length]));
    expect(parseResponses(await until(responses(3))).at(-1)?.status).toBe(401);
    socket.destroy();
  });

  it('a server with TLS responds with 408 to a request that does not arrive after the handshake', async () => {
    const { server, port } = await listenTls();
    const { socket, ended } = await connectTls(port);
    // Only now, because it is the time limit of the handshake, too.
    server.headersTimeout = 100;
    socket.write('POST /plants HTTP/1.1\r\nHost: ');
    expect(parseResponses(await ended)).toMatchObject([{ status: 408 }]);
    socket.destroy();
  });

  it('a server with TLS ends a connection without TLS if the logger throws, and keeps serving', async () => {
    let logged = 0;
    const info = () => {
      logged += 1;
      throw new Error('the log is unavailable');
    };
    const { port } = await listen({ tls, logger: { info, warn: info, error: info } });
    const { socket, ended } = await connectRaw(port);
    socket.write(post(7));
    await ended;
    await expect.poll(() => logged).toBe(1);
  });

  it.each([
    ['plain HTTP', post(7)],
    ['nonsense', 'nonsense\r\n\r\n'],
  ])(
    'a server with TLS ends and logs a connection that sends %s, and serves the next',
    async (_, bytes) => {
      const { port, logged } = await listenTls();
      const { socket, ended } = await connectRaw(port);
      socket.write(bytes);
      await ended;
      socket.destroy();
      const code = expect.stringMatching(/^ERR_SSL_/) as unknown;
      expect(logged).toEqual([{ code, client: '127.0.0.1' }]);
      const next = await connectTls(port);
      next.socket.write(post(8));
      expect(parseResponses(await next.until(responses(1)))[0]?.status).toBe(200);
      next.socket.destroy();
    },
  );

  it('a server with TLS ends a connection whose handshake exceeds headersTimeoutMs', async () => {
    const { port, logged } = await listenTls({ headersTimeoutMs: 100 });
    const { socket, ended } = await connectRaw(port);
    expect(await ended).toBe('');
    socket.destroy();
    expect(logged).toEqual([{ code: 'ERR_TLS_HANDSHAKE_TIMEOUT', client: '127.0.0.1' }]);
  });

  it('a server with TLS logs the address of a client that does not accept its certificate', async () => {
    const { port, logged } = await listenTls();
    await connectTls(port, { rejectUnauthorized: true });
    await expect.poll(() => logged).toEqual([{ code: 'ECONNRESET', client: '127.0.0.1' }]);
  });

  it('a server with TLS closes connections above maxConnections', async () => {
    const { port } = await listenTls({ maxConnections: 1 });
    const first = await connectTls(port);
    const second = await connectRaw(port);
    expect(await second.ended).toBe('');
    first.socket.write(post(1));
    expect(parseResponses(await first.until(responses(1)))[0]?.status).toBe(200);
    first.socket.destroy();
    second.socket.destroy();
  });

  it('a server throws a TypeError for an invalid certificate', () => {
    const options = { repository: createMemoryRepository(), authenticate: () => true };
    expect(() => createHttpServer({ ...options, tls: { cert: 'x', key: tls.key } })).toThrow(
      new TypeError('tls.cert has no certificate in PEM that can be read'),
    );
  });

  it('a server without a tls option has no TLS', async () => {
    const { port, server } = await listen();
    expect((await sendRaw(port, post(7))).status).toBe(200);
    const { socket } = await connectTls(port);
    if (!socket.destroyed) await once(socket, 'close');
    expect(server.listening).toBe(true);
  });
});

describe('certificate and its key', requiresOpenssl, () => {
  it('a certificate and its key are valid, also if both are in one file', async () => {
    const { cert, key } = await makeCertificate();
    const both = cert + key;
    for (const tls of [
      { cert, key },
      { cert: Buffer.from(cert), key: Buffer.from(key) },
      { cert: both, key: both },
    ]) {
      expect(tlsFaultOf(tls)).toBe(undefined);
    }
  });

  it('a certificate and its key are invalid if either has another content', async () => {
    const [one, other] = [await makeCertificate(), await makeCertificate()];
    const encryption = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    const key = createPrivateKey(one.key);
    const encrypted = key.export({ ...encryption, type: 'pkcs8' }).toString();
    const older = key.export({ ...encryption, type: 'sec1' }).toString();
    const cases: [Partial<Certificate>, string, string][] = [
      [{ cert: '' }, 'cert', 'has no certificate in PEM'],
      [{ cert: one.key }, 'cert', 'has no certificate in PEM'],
      [{ cert: one.cert.replace(/\n.{9}/, '\n') }, 'cert', 'has no certificate in PEM'],
      [{ key: '' }, 'key', 'has no private key in PEM'],
      [{ key: one.cert }, 'key', 'has no private key in PEM'],
      [{ key: other.key }, 'key', 'is not the key of the certificate'],
      [{ key: encrypted }, 'key', 'is encrypted'],
      [{ key: older }, 'key', 'is encrypted'],
    ];
    for (const [change, part, why] of cases) {
      const fault = tlsFaultOf({ ...one, ...change });
      expect(fault).toEqual({ part, why: expect.stringContaining(why) as unknown });
    }
  });

  it('a certificate and its key are invalid if the certificate chain is broken', async () => {
    const { cert, key } = await makeCertificate();
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(tlsFaultOf({ cert: cert + broken, key })).toEqual({
      part: 'cert',
      why: expect.stringMatching(/^cannot be used: error:/) as unknown,
    });
  });
});
