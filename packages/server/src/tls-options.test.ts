import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { createMemoryRepository } from '@plantstore/core';
import {
  type Certificate,
  hasOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { connectRaw, connectTls, parseResponses, sendRaw } from '@plantstore/test-support/raw-http';
import { beforeAll, describe, expect, it } from 'vitest';
import { goodFields, head, listen, plant, post, responses } from '../test/listen.ts';
import { createHttpServer, type HttpServerOptions } from './create-http-server.ts';
import { tlsFaultOf } from './tls-options.ts';

describe.runIf(hasOpenssl)('a server with TLS', () => {
  let tls: Certificate;
  beforeAll(async () => {
    tls = await makeCertificate();
  });

  const listenTls = async (options: Partial<HttpServerOptions> = {}) => {
    const logged: unknown[] = [];
    const logger = { warn() {}, error() {}, info: (fields: unknown) => void logged.push(fields) };
    return { ...(await listen({ tls, logger, ...options })), logged };
  };

  it('creates plants on one connection, pipelined, and answers errors in their turn', async () => {
    const { port } = await listenTls();
    const { socket, until } = await connectTls(port);
    socket.write(
      post(1) + post(2) + head(['Host: a'], 'GET / HTTP/1.1') + 'BREW / HTTP/1.1\r\n\r\n',
    );
    const told = parseResponses(await until(responses(4))).map(({ status }) => status);
    expect(told).toEqual([200, 200, 404, 501]);
    socket.destroy();
  });

  it('says 100 only to a request that would be accepted', async () => {
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

  it('answers 408 to a request that does not come, after its handshake', async () => {
    const { port } = await listenTls({ headersTimeoutMs: 100 });
    const { socket, ended } = await connectTls(port);
    socket.write('POST /plants HTTP/1.1\r\nHost: ');
    expect(parseResponses(await ended)).toMatchObject([{ status: 408 }]);
    socket.destroy();
  });

  it('ends a connection without TLS where the log throws, and does not end the process', async () => {
    let told = 0;
    const info = () => {
      told += 1;
      throw new Error('the log is away');
    };
    const { port } = await listen({ tls, logger: { info, warn: info, error: info } });
    const { socket, ended } = await connectRaw(port);
    socket.write(post(7));
    await ended;
    await expect.poll(() => told).toBe(1);
  });

  it.each([
    ['plain HTTP', post(7)],
    ['nonsense', 'nonsense\r\n\r\n'],
  ])('ends a connection that brings %s, tells the log, and serves the next', async (_, bytes) => {
    const { port, logged } = await listenTls();
    const { socket, ended } = await connectRaw(port);
    socket.write(bytes);
    await ended;
    socket.destroy();
    expect(logged).toEqual([{ code: expect.stringMatching(/^ERR_SSL_/) as unknown }]);
    const next = await connectTls(port);
    next.socket.write(post(8));
    expect(parseResponses(await next.until(responses(1)))[0]?.status).toBe(200);
    next.socket.destroy();
  });

  it('ends a connection whose handshake does not come in the time for a head', async () => {
    const { port, logged } = await listenTls({ headersTimeoutMs: 100 });
    const { socket, ended } = await connectRaw(port);
    expect(await ended).toBe('');
    socket.destroy();
    expect(logged).toEqual([{ code: 'ERR_TLS_HANDSHAKE_TIMEOUT' }]);
  });

  it('closes connections beyond their limit', async () => {
    const { port } = await listenTls({ maxConnections: 1 });
    const first = await connectTls(port);
    const second = await connectRaw(port);
    expect(await second.ended).toBe('');
    first.socket.write(post(1));
    expect(parseResponses(await first.until(responses(1)))[0]?.status).toBe(200);
    first.socket.destroy();
    second.socket.destroy();
  });

  it('is not made of what cannot be used', () => {
    const options = { repository: createMemoryRepository(), authenticate: () => true };
    expect(() => createHttpServer({ ...options, tls: { cert: 'x', key: tls.key } })).toThrow(
      new TypeError('tls.cert has no certificate in PEM that can be read'),
    );
  });

  it('is no server with TLS where it is not asked for', async () => {
    const { port, server } = await listen();
    expect((await sendRaw(port, post(7))).status).toBe(200);
    const { socket } = await connectTls(port);
    if (!socket.destroyed) await once(socket, 'close');
    expect(server.listening).toBe(true);
  });
});

describe.runIf(hasOpenssl)('a certificate and its key', () => {
  it('can be used, also out of one file', async () => {
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

  it('cannot be used where either is something else', async () => {
    const [one, other] = [await makeCertificate(), await makeCertificate()];
    const encryption = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
    const encrypted = createPrivateKey(one.key).export({ ...encryption, passphrase: 'secret' });
    const cases: [Partial<Certificate>, string, string][] = [
      [{ cert: '' }, 'cert', 'has no certificate in PEM'],
      [{ cert: one.key }, 'cert', 'has no certificate in PEM'],
      [{ cert: one.cert.replace(/\n.{9}/, '\n') }, 'cert', 'has no certificate in PEM'],
      [{ key: '' }, 'key', 'has no private key in PEM'],
      [{ key: one.cert }, 'key', 'has no private key in PEM'],
      [{ key: other.key }, 'key', 'is not the key of the certificate'],
      [{ key: encrypted.toString() }, 'key', 'is encrypted'],
    ];
    for (const [change, part, why] of cases) {
      const fault = tlsFaultOf({ ...one, ...change });
      expect(fault).toEqual({ part, why: expect.stringContaining(why) as unknown });
    }
  });

  it('cannot be used where the certificate does not lead on', async () => {
    const { cert, key } = await makeCertificate();
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(tlsFaultOf({ cert: cert + broken, key })).toEqual({
      part: 'cert',
      why: expect.stringContaining('cannot be used: ') as unknown,
    });
  });
});
