import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Certificate,
  requiresOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { connectRaw } from '@plantstore/test-support/raw-http';
import { requires } from '@plantstore/test-support/requires';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFolder, spawnProgram, startProgram, token, untilLogged } from './program.ts';
import { postSecurely } from './https.ts';

const run = promisify(execFile);

const filesOf = async ({ cert, key }: Certificate) => {
  const folder = await newFolder();
  const paths = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const write = async (other: Certificate) => {
    await writeFile(paths.cert, other.cert);
    await writeFile(paths.key, other.key);
  };
  await write({ cert, key });
  return { ...paths, folder, write, args: ['--tls-cert', paths.cert, '--tls-key', paths.key] };
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
    await untilLogged(server, (log) => log.includes('no TLS handshake'));
    expect(await postSecurely(server.url, plant(1), one.cert)).toBe(200);
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  it('the server with a certificate prints a curl command that works as pasted', async ({
    skip,
  }) => {
    await run('curl', ['--version']).catch(() => skip('this machine has no curl'));
    const { args } = await filesOf(one);
    const server = spawnProgram({ args: [...memory, '--port', '0', ...args] });
    while (!server.stderr().includes('curl')) {
      await new Promise((resolve) => server.process.stderr?.once('data', resolve));
    }
    const curl = /^curl.*$/m.exec(server.stderr())?.[0] ?? '';
    const { stdout } = await run('sh', ['-c', curl]);
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('the server with a certificate uses a new certificate after SIGHUP, and keeps the old one if the new one is invalid', async () => {
    const files = await filesOf(one);
    const server = await startProgram({ args: [...memory, ...files.args] });
    await files.write({ cert: one.cert, key: other.key });
    server.process.kill('SIGHUP');
    await untilLogged(server, (log) => log.includes('"level":"error"'));
    expect(server.stdout()).toContain('is not the key of the certificate');
    expect(server.stdout()).toContain('PLANTSTORE_TLS_KEY');
    expect(await postSecurely(server.url, plant(1), one.cert)).toBe(200);

    await files.write(other);
    server.process.kill('SIGHUP');
    await untilLogged(server, (log) => log.includes('the certificate was reread'));
    expect(await postSecurely(server.url, plant(2), other.cert)).toBe(200);
    await expect(postSecurely(server.url, plant(3), one.cert)).rejects.toThrow(/self.signed/);
    const secret = other.key.split('\n')[1] ?? 'none';
    expect(server.stdout() + server.stderr()).not.toContain(secret);
  });

  it.each<[string, RegExp, (files: Awaited<ReturnType<typeof filesOf>>) => Promise<string[]>]>([
    [
      'the certificate is missing',
      /the certificate \(--tls-cert, PLANTSTORE_TLS_CERT\): \/nowhere\/c\.pem does not exist; name a file with /,
      async ({ key }) => ['--tls-cert', '/nowhere/c.pem', '--tls-key', key],
    ],
    [
      'the key is missing',
      /the key \(--tls-key, PLANTSTORE_TLS_KEY\): .* does not exist; name a file with /,
      async ({ cert }) => ['--tls-cert', cert, '--tls-key', '/nowhere/k.pem'],
    ],
    [
      'the certificate is a folder',
      /the certificate .*folder is a folder; name/,
      async ({ folder, key }) => {
        await mkdir(join(folder, 'folder'));
        return ['--tls-cert', join(folder, 'folder'), '--tls-key', key];
      },
    ],
    [
      'the certificate is not PEM',
      /the certificate .* has no certificate in PEM that can be read; name/,
      async ({ cert, args }) => {
        await writeFile(cert, 'buy milk\n');
        return args;
      },
    ],
    [
      'the key is of another certificate',
      /the key .* is not the key of the certificate; name/,
      async ({ key, args }) => {
        await writeFile(key, other.key);
        return args;
      },
    ],
    [
      'the key is encrypted',
      /the key .* is encrypted; decrypt it with: openssl pkey; name/,
      async ({ key, args }) => {
        const encryption = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
        const encrypted = createPrivateKey(one.key).export({ ...encryption, passphrase: 'x' });
        await writeFile(key, encrypted);
        return args;
      },
    ],
  ])('the server reports in one line that %s, with exit status 1', async (_, message, argsIn) => {
    const args = [...memory, ...(await argsIn(await filesOf(one)))];
    const server = spawnProgram({ args, env: { PLANTSTORE_PORT: '0', PLANTSTORE_TOKENS: token } });
    expect(await server.exited).toBe(1);
    expect(server.stdout()).toBe('');
    expect(server.stderr()).toMatch(/^plantstore-server: cannot use [^\n]*\n$/);
    expect(server.stderr()).toMatch(message);
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
      expect(server.stderr()).toMatch(/the key .* may not be read by this user/);
    },
  );
});

describe('server without a certificate', () => {
  it('the server without a certificate logs a warning if it listens on all addresses', async () => {
    const server = await startProgram({ args: [...memory, '--host', '0.0.0.0'] });
    await untilLogged(server, (log) => log.includes('--tls-cert'));
    const [first = '', second = ''] = server.stdout().split('\n');
    expect(JSON.parse(first)).toMatchObject({ message: 'accepting plants' });
    expect(JSON.parse(second)).toMatchObject({ level: 'warn', host: '0.0.0.0' });
  });

  it('the server without a certificate logs no warning if it listens on loopback', async () => {
    const server = await startProgram({ args: [...memory, '--host', '127.0.0.1'] });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(server.stdout()).not.toContain('"warn"');
  });
});
