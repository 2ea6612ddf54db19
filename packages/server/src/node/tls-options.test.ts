import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import nodeTls, { type SecureVersion } from 'node:tls';
import { createMemoryRepository } from '@plantstore/core';
import {
  type Certificate,
  makeCertificate,
  requiresOpenssl,
} from '@plantstore/test-support/certificate';
import { connectTls } from '@plantstore/test-support/raw-http';
import { recordLog } from '@plantstore/test-support/record-log';
import { ResultAsync } from 'neverthrow';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  connectTo,
  goodFields,
  head,
  listen,
  post,
  responses,
  statusesOf,
} from '../../test/listen.ts';
import { onDemand } from '../../test/on-demand.ts';
import { createHttpServer, type HttpServerOptions } from './create-http-server.ts';
import { startServer } from './start-server.ts';
import { tlsFaultOf } from './tls-options.ts';

const service = { repository: createMemoryRepository(), authenticate: () => true, port: 0 };

describe('server with TLS', requiresOpenssl, () => {
  let [tls, other]: Certificate[] = [];
  beforeAll(async () => {
    [tls, other] = [await makeCertificate('old'), await makeCertificate('new')];
  });
  const connect = async (port: number) => connectTo(port, connectTls);

  const listenTls = async (options: Partial<HttpServerOptions> = {}) => {
    const { logged, logger } = recordLog();
    return { ...(await listen({ ...(tls && { tls }), logger, ...options })), logged };
  };

  it('a server with TLS stores the plants of pipelined requests of any size', async () => {
    const { port } = await listenTls({ maxBodyBytes: 200_000 });
    const sizes = [0, 17_000, 34_000, 10_000, 27_000, 3_000, 20_000, 37_000];
    for (const each of Array.from({ length: 5 }, () => [sizes, sizes.map(() => 100_000)]).flat()) {
      const { socket, until } = await connect(port);
      const requests = each.map((size, index) => {
        const body = JSON.stringify({ id: size + index, name: 'x'.repeat(size) });
        return head([...goodFields, `Content-Length: ${body.length}`]) + body;
      });
      socket.write(requests.join('') + head(['Host: a'], 'GET / HTTP/1.1'));
      const expected = [...Array<number>(8).fill(200), 404];
      expect(statusesOf(await until(responses(9)))).toEqual(expected);
    }
  });

  it('a server with TLS reads at most 64 KiB of a connection while a token is checked, and the rest afterwards', async () => {
    const checked = Promise.withResolvers<boolean>();
    const { server, port } = await listenTls({ authenticate: async () => checked.promise });
    const accepted = once(server, 'secureConnection') as Promise<[Socket]>;
    const { socket, until } = await connect(port);
    const [peer] = await accepted;
    socket.write(post(1) + head([...goodFields, 'Content-Length: 900000']) + 'x'.repeat(900_000));
    let bytesRead = -1;
    while (bytesRead < post(1).length || bytesRead !== peer.bytesRead) {
      ({ bytesRead } = peer);
      for (let turns = 0; turns < 100; turns += 1) await nextTurn();
    }
    expect(bytesRead).toBeLessThanOrEqual(65_536);
    checked.resolve(true);
    expect(statusesOf(await until(responses(2)))).toEqual([200, 413]);
  });

  it('a server with TLS responds to a client that half-closes its connection', async () => {
    const { port } = await listenTls({
      // The server reads the end of the connection meanwhile.
      authenticate: async () => sleep(50, true),
      repository: { create: () => ResultAsync.fromSafePromise<void>(sleep(50)) },
    });
    const { socket, ended } = await connect(port);
    socket.end(post(1));
    expect(statusesOf(await ended)).toEqual([200]);
  });

  it.each([
    [/^ERR_SSL_/, post(7)],
    [/^ERR_SSL_/, 'nonsense\r\n\r\n'],
    [/^ERR_TLS_HANDSHAKE_TIMEOUT$/, ''],
    [/^ECONNRESET$/, undefined],
  ])(
    'a server with TLS logs %s and the client after the bytes %j in place of a handshake',
    async (...row) => {
      const [code, bytes] = row;
      const { port, logged } = await listenTls({ headersTimeoutMs: bytes === '' ? 100 : 15_000 });
      if (bytes === undefined) await connectTls(port, { rejectUnauthorized: true });
      else {
        const { socket, ended } = await connectTo(port);
        socket.write(bytes);
        await ended;
      }
      const line = { level: 'info', message: 'no TLS handshake', client: '127.0.0.1' };
      const expected = [{ ...line, code: expect.stringMatching(code) as unknown }];
      await expect.poll(() => logged).toEqual(expected);
      // On a busy machine, a handshake can take longer than the limit.
      const serveNext = async () => {
        const next = await connect(port);
        next.socket.write(post(8));
        return statusesOf(await next.until(responses(1)));
      };
      await expect.poll(serveNext).toEqual([200]);
    },
  );

  /** Returns the TLS versions that a server accepts. */
  const versionsOf = async (port: number): Promise<SecureVersion[]> => {
    const accepted: SecureVersion[] = [];
    for (const version of ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const) {
      const { socket } = await connectTls(port, { minVersion: version, maxVersion: version });
      if (!socket.destroyed && socket.getProtocol() === version) accepted.push(version);
      socket.destroy();
    }
    return accepted;
  };

  it('a server with TLS accepts TLS 1.2 and 1.3 only, uses a renewed certificate for new connections, and keeps open ones', async () => {
    if (tls === undefined || other === undefined) throw new Error('there is no certificate');
    // OpenSSL refuses TLS 1.1 by default.
    const { DEFAULT_CIPHERS: ciphers } = nodeTls;
    nodeTls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0';
    onTestFinished(() => void (nodeTls.DEFAULT_CIPHERS = ciphers));
    const lenient = createServer({ ...tls, minVersion: 'TLSv1' }).listen(0, '127.0.0.1');
    onTestFinished(() => void lenient.close());
    await once(lenient, 'listening');
    expect(await versionsOf((lenient.address() as AddressInfo).port)).toHaveLength(4);

    const { url, renewTls, close } = (await startServer({ ...service, tls }))._unsafeUnwrap();
    onTestFinished(async () => close(0));
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/plants$/);
    const port = Number(new URL(url).port);
    const open = await connectTls(port);
    const nameOf = async () => (await connectTls(port)).socket.getPeerCertificate().subject.CN;
    for (const wrong of [
      { ...tls, key: other.key },
      { ...tls, cert: 'nonsense' },
    ])
      expect(renewTls(wrong)._unsafeUnwrapErr()).toEqual(tlsFaultOf(wrong));
    expect([await nameOf(), await versionsOf(port)]).toEqual(['old', ['TLSv1.2', 'TLSv1.3']]);
    expect(renewTls(other).isOk()).toBe(true);
    expect([await nameOf(), await versionsOf(port)]).toEqual(['new', ['TLSv1.2', 'TLSv1.3']]);
    open.socket.write(post(1));
    expect(statusesOf(await open.until(responses(1)))).toEqual([200]);
    open.socket.destroy();
  });

  it('a server with TLS responds to requests in flight on close(), also while other connections are silent or in their handshake', async () => {
    const { repository, until: untilStoring, completeAll } = onDemand();
    const options = { ...service, repository, ...(tls && { tls }) };
    const { url, close } = (await startServer(options))._unsafeUnwrap();
    const port = Number(new URL(url).port);
    const idle = [await connect(port), await connectTo(port), await connectTo(port)];
    // The head of a TLS record without its body.
    idle[2]?.socket.write(Uint8Array.of(0x16, 3, 1, 0, 200, 1));
    const { socket, until } = await connect(port);
    socket.write(post(7));
    await untilStoring(1);
    const closed = close(60_000);
    expect(await Promise.all(idle.map(async ({ ended }) => ended))).toEqual(['', '', '']);
    completeAll();
    expect(await until(responses(1))).toMatch(/^HTTP\/1.1 200 [^]*Connection: close/);
    await closed;
  });

  it('a server that was started without tls throws a TypeError for a renewal', async () => {
    const { renewTls, close } = (await startServer(service))._unsafeUnwrap();
    onTestFinished(async () => close(0));
    expect(() => tls && renewTls(tls)).toThrow(TypeError);
  });
});

describe('certificate and its key', requiresOpenssl, () => {
  it('a certificate and its key are valid, also if both are in one file', async () => {
    const { cert, key } = await makeCertificate();
    const both = cert + key;
    const bytes = { cert: Buffer.from(cert), key: Buffer.from(key) };
    for (const tls of [{ cert, key }, bytes, { cert: both, key: both }])
      expect(tlsFaultOf(tls)).toBe(undefined);
  });

  it('a certificate and its key are invalid if either has another content', async () => {
    const [one, another] = [await makeCertificate(), await makeCertificate()];
    const encryption = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    const encrypted = createPrivateKey(one.key).export({ ...encryption, type: 'pkcs8' });
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    const noCertificate = /^has no certificate in PEM that can be used: error:/;
    const noKey = /^has no unencrypted private key in PEM: /;
    const otherType = generateKeyPairSync('ed25519')
      .privateKey.export({ format: 'pem', type: 'pkcs8' })
      .toString();
    const cases: [Partial<Certificate>, 'cert' | 'key', RegExp][] = [
      [{ cert: '' }, 'cert', noCertificate],
      [{ cert: one.key }, 'cert', noCertificate],
      [{ cert: one.cert.replace(/\n.{9}/, '\n') }, 'cert', noCertificate],
      [{ cert: one.cert + broken }, 'cert', noCertificate],
      [{ key: '' }, 'key', noKey],
      [{ key: one.cert }, 'key', noKey],
      [{ key: encrypted.toString() }, 'key', noKey],
      [{ key: another.key }, 'key', /^is not the key of the certificate: error:.*mismatch/],
      [{ key: otherType }, 'key', /^is not the key of the certificate: their types differ/],
    ];
    for (const [change, part, why] of cases) {
      const tls = { ...one, ...change };
      const fault = tlsFaultOf(tls);
      expect(fault).toEqual({ part, why: expect.stringMatching(why) as unknown });
      expect(() => createHttpServer({ ...service, tls })).toThrow(
        new TypeError(`tls.${part} ${fault?.why}`),
      );
    }
  });
});
