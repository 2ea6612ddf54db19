import { createPrivateKey } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { makeCertificate, requiresOpenssl } from '@plantstore/test-support/certificate';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newFolder } from '../test/run-in-folder.ts';
import { main } from './main.ts';

const runMain = async (argv: readonly string[]) => {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const status = await main({
    argv,
    env: { PLANTSTORE_PORT: '0' },
    stdin: () => new PassThrough(),
    stdout,
    stderr,
    signals: new EventEmitter(),
    endAtOnce() {},
  });
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
};

/** Expects that a start reports one error, and that `--check-settings` reports the same. */
const expectBoth = async (argv: readonly string[], expected: RegExp, status = 1) => {
  const { stdout, ...start } = await runMain(argv);
  expect([start.status, stdout]).toEqual([status, '']);
  expect(start.stderr).toMatch(/^plantstore: cannot [^\n]+\n$/);
  expect(start.stderr).toMatch(expected);
  expect(await runMain([...argv, '--check-settings'])).toMatchObject(start);
};

const memory = ['--database', 'memory:'];
const atPath = (path: string) => ['--database', `sqlite:${path}`];
const writeIn = async (folder: string, name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};

/** Returns a port on which this process listens. */
const takenPort = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return String((server.address() as { port: number }).port);
};

it.each<[string, RegExp, (folder: string) => Promise<string[]>]>([
  [
    'the tokens file does not exist',
    /cannot use the tokens file \(--tokens-file, PLANTSTORE_TOKENS_FILE\): .*tokens: no such file or directory; name a file with one token per line$/m,
    async (folder) => [...memory, '--tokens-file', join(folder, 'tokens')],
  ],
  [
    'the database is a folder',
    /cannot open the database \(--database, PLANTSTORE_DATABASE\): .*: it is a folder, a device or a pipe; name a file$/m,
    async (folder) => atPath(folder),
  ],
  [
    'the folder of the database does not exist',
    /the database .*ENOENT: no such file or directory, .*no'; check its folder/m,
    async (folder) => atPath(join(folder, 'no/plants.db')),
  ],
  [
    'the host has no address',
    /cannot serve plants \(--host, PLANTSTORE_HOST; .*\): no-such-host\.\.invalid:0: .*; choose another host or port$/m,
    async () => [...memory, '--host', 'no-such-host..invalid'],
  ],
  [
    'the host is not of this machine',
    /cannot serve plants .*: 192\.0\.2\.1:0: address not available; choose another host or port$/m,
    async () => [...memory, '--host', '192.0.2.1'],
  ],
])('a start and --check-settings report in one line that %s', async (_, message, argsIn) => {
  await expectBoth(await argsIn(await newFolder()), message);
});

it.each<[string, RegExp, (folder: string) => Promise<string[]>]>([
  [
    'the port is in use',
    /cannot serve plants \(--host, PLANTSTORE_HOST; --port, PLANTSTORE_PORT\): 127\.0\.0\.1:\d+: address already in use; choose another host or port$/m,
    async () => [...memory, '--port', await takenPort()],
  ],
  [
    'the health port is in use',
    /cannot serve health \(--health-port, PLANTSTORE_HEALTH_PORT\): 127\.0\.0\.1:\d+: address already in use; choose another host or port$/m,
    async () => [...memory, '--health-port', await takenPort()],
  ],
  [
    'the database is not a SQLite file',
    /the database .*plants\.db is not a SQLite database; name another file$/m,
    async (folder) => atPath(await writeIn(folder, 'plants.db', 'buy milk\n'.repeat(100))),
  ],
])('a start reports in one line that %s', async (_, message, argsIn) => {
  const { status, stdout, stderr } = await runMain(await argsIn(await newFolder()));
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^plantstore: cannot [^\n]+\n$/);
  expect(stderr).toMatch(message);
});

describe('a certificate', requiresOpenssl, () => {
  it.each<
    [
      string,
      RegExp,
      (files: {
        folder: string;
        cert: string;
        key: string;
      }) => Promise<Partial<{ cert: string; key: string }>>,
    ]
  >([
    [
      'a certificate that is missing',
      /the certificate \(--tls-cert, PLANTSTORE_TLS_CERT\): \/nowhere\/c\.pem: no such file or directory; name a file with /,
      async () => ({ cert: '/nowhere/c.pem' }),
    ],
    [
      'the key of another certificate',
      /the key .*: it is not the key of the certificate: .*; name/,
      async ({ folder }) => ({
        key: await writeIn(folder, 'other', (await makeCertificate()).key),
      }),
    ],
    [
      'a key that is encrypted',
      /the key .*: it has no unencrypted private key in PEM: .*; name/,
      async ({ folder, key }) => {
        const encryption = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
        const encrypted = createPrivateKey(await readFile(key)).export({
          ...encryption,
          passphrase: 'x',
        });
        return { key: await writeIn(folder, 'encrypted', String(encrypted)) };
      },
    ],
  ])('a start and --check-settings report %s', async (_, message, change) => {
    const folder = await newFolder();
    const pair = await makeCertificate();
    const files = {
      folder,
      cert: await writeIn(folder, 'cert.pem', pair.cert),
      key: await writeIn(folder, 'key.pem', pair.key),
    };
    const { cert, key } = { ...files, ...(await change(files)) };
    await expectBoth([...memory, '--tls-cert', cert, '--tls-key', key], message);
  });
});

it('--check-settings reports all problems together', async () => {
  const files = ['--tls-cert', '/no/cert', '--tls-key', '/no/key', '--tokens-file', '/no/tokens'];
  const { status, stderr } = await runMain([
    ...files,
    ...atPath('/no/plants.db'),
    '--check-settings',
  ]);
  expect(status).toBe(1);
  expect(stderr.match(/^plantstore: cannot [^(]+\(--[a-z-]+/gm)).toEqual([
    'plantstore: cannot use the certificate (--tls-cert',
    'plantstore: cannot use the tokens file (--tokens-file',
    'plantstore: cannot open the database (--database',
  ]);
});

it('--check-settings warns of expired tokens, and reports if there is no other', async () => {
  const folder = await newFolder();
  const stderrOf = async (text: string) => {
    const file = await writeIn(folder, 'tokens', text);
    const { status, stderr } = await runMain([
      ...memory,
      '--tokens-file',
      file,
      '--check-settings',
    ]);
    expect(status).toBe(0);
    return stderr;
  };
  expect(await stderrOf('one until=2020-01-31 name=shed\ntwo\n')).toBe(
    'plantstore: warning: tokens of the file have expired and are rejected: shed\n',
  );
});
