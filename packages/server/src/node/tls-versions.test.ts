import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import nodeTls, { type SecureVersion } from 'node:tls';
import { createMemoryRepository } from '@plantstore/core';
import { requiresOpenssl, makeCertificate } from '@plantstore/test-support/certificate';
import { connectTls } from '@plantstore/test-support/raw-http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer } from './start-server.ts';

/** Enables TLS 1.1 for this test, which OpenSSL refuses by default. */
const allowOldTls = () => {
  const { DEFAULT_CIPHERS: ciphers } = nodeTls;
  nodeTls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0';
  onTestFinished(() => {
    nodeTls.DEFAULT_CIPHERS = ciphers;
  });
};

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

describe('server with TLS', requiresOpenssl, () => {
  it('a server with TLS accepts TLS 1.2 and 1.3 only, also after its certificate is renewed', async () => {
    allowOldTls();
    const tls = await makeCertificate();

    const lenient = createServer({ ...tls, minVersion: 'TLSv1' }).listen(0, '127.0.0.1');
    onTestFinished(() => void lenient.close());
    await once(lenient, 'listening');
    const { port } = lenient.address() as AddressInfo;
    expect(await versionsOf(port)).toEqual(['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3']);

    const repository = createMemoryRepository();
    const started = await startServer({ repository, authenticate: () => true, port: 0, tls });
    if (started.isErr()) throw new Error(started.error.message);
    const { url, renewTls, close } = started.value;
    onTestFinished(async () => close(0));
    expect(await versionsOf(Number(new URL(url).port))).toEqual(['TLSv1.2', 'TLSv1.3']);
    expect(renewTls(tls)).toEqual({ kind: 'renewed' });
    expect(await versionsOf(Number(new URL(url).port))).toEqual(['TLSv1.2', 'TLSv1.3']);
  });
});
