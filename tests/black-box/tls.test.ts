import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Certificate,
  requiresOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { requires } from '@plantstore/test-support/requires';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFolder, spawnProgram, startProgram, untilLogged } from './program.ts';
import { postSecurely } from './https.ts';

const filesOf = async ({ cert, key }: Certificate) => {
  const folder = await newFolder();
  const paths = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const write = async (other: Certificate) => {
    await writeFile(paths.cert, other.cert);
    await writeFile(paths.key, other.key);
  };
  await write({ cert, key });
  return { ...paths, write, args: ['--tls-cert', paths.cert, '--tls-key', paths.key] };
};

const plant = (id: number) => `{"id":${id},"name":"x"}`;
const memory = ['--database', 'memory:'];

describe('server with a certificate', requiresOpenssl, () => {
  let one: Certificate;
  let other: Certificate;
  beforeAll(async () => {
    [one, other] = await Promise.all([makeCertificate(), makeCertificate()]);
  });

  it('the server with a certificate serves HTTPS at its URL, and ends connections without TLS', async () => {
    const server = await startProgram({ args: [...memory, ...(await filesOf(one)).args] });
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/plants$/);
    const { socket, ended } = await connectRaw(server.port);
    socket.write('GET /plants HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await ended).not.toContain('HTTP/1.1 200');
    socket.destroy();
    await untilLogged(server, 'no TLS handshake');
    expect(await postSecurely(server.url, plant(1), one.cert)).toBe(200);
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  it('the server with a certificate uses a new certificate after SIGHUP, and keeps the old one if the new one is invalid', async () => {
    const files = await filesOf(one);
    const server = await startProgram({ args: [...memory, ...files.args] });
    await files.write({ cert: one.cert, key: other.key });
    server.process.kill('SIGHUP');
    // It can reread a file that is not written completely, and reports that first.
    await untilLogged(server, 'is not the key of the certificate');
    expect(server.stdout()).toContain('PLANTSTORE_TLS_KEY');
    expect(await postSecurely(server.url, plant(1), one.cert)).toBe(200);

    await files.write(other);
    server.process.kill('SIGHUP');
    await untilLogged(server, 'the certificate was reread');
    expect(await postSecurely(server.url, plant(2), other.cert)).toBe(200);
    await expect(postSecurely(server.url, plant(3), one.cert)).rejects.toThrow(/self.signed/);
    const secret = other.key.split('\n')[1] ?? 'none';
    expect(server.stdout() + server.stderr()).not.toContain(secret);
  });

  // Root may read every file.
  it(
    'the server reports a certificate file without read permission',
    requires(process.getuid?.() !== 0, 'root may read every file'),
    async () => {
      const { key, args } = await filesOf(one);
      await chmod(key, 0);
      const server = spawnProgram({ args: [...memory, ...args] });
      expect(await server.exited).toBe(1);
      expect(server.stderr()).toMatch(/the key .*: permission denied/);
    },
  );
});

describe('server without a certificate', () => {
  it('the server without a certificate logs a warning if it listens on all addresses', async () => {
    const server = await startProgram({ args: [...memory, '--host', '0.0.0.0'] });
    await untilLogged(server, '--tls-cert');
    const [first = '', second = ''] = server.stdout().split('\n');
    expect(JSON.parse(first)).toHaveProperty('url');
    expect(JSON.parse(second)).toMatchObject({ level: 'warn', host: '0.0.0.0' });
  });
});
