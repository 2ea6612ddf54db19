import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Certificate,
  requiresOpenssl,
  makeCertificate,
} from '@plantstore/test-support/certificate';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFolder, spawnProgram, startProgram } from './program.ts';

const run = async (args: readonly string[]) => {
  const server = spawnProgram({ args, env: { PLANTSTORE_PORT: '0' } });
  const status = await server.exited;
  return { status, stdout: server.stdout(), stderr: server.stderr() };
};

const filesOf = async ({ cert, key }: Certificate) => {
  const folder = await newFolder();
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  return {
    folder,
    write,
    cert: await write('cert.pem', cert),
    key: await write('key.pem', key),
    tokens: await write('tokens', 'one name=shed\n'),
    database: `sqlite:${join(folder, 'plants.db')}`,
  };
};
type Files = Awaited<ReturnType<typeof filesOf>>;

const argsOf = ({ cert, key, tokens, database }: Omit<Files, 'folder' | 'write'>) => [
  '--tls-cert',
  cert,
  '--tls-key',
  key,
  '--tokens-file',
  tokens,
  '--database',
  database,
  '--metrics',
  'on',
  '--health-port',
  '0',
];

describe('--check-settings', requiresOpenssl, () => {
  let one: Certificate;
  let other: Certificate;
  beforeAll(async () => {
    [one, other] = await Promise.all([makeCertificate(), makeCertificate()]);
  });

  it('--check-settings exits with 0 if a start would open its database and ports, and creates no file', async () => {
    const files = await filesOf(one);
    const before = await readdir(files.folder);
    const { status, stdout, stderr } = await run([...argsOf(files), '--check-settings']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^--tokens-file .*tokens$/m);
    expect(await readdir(files.folder)).toEqual(before);
  });

  it('--check-settings exits with 0 while the server has the database open, and leaves its files as they are', async () => {
    const files = await filesOf(one);
    const server = await startProgram({ args: argsOf(files) });
    const before = await readdir(files.folder);
    // The server keeps the port; a restart takes it over.
    const args = [...argsOf(files), '--port', String(server.port), '--check-settings'];
    const { status, stderr } = await run(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(await readdir(files.folder)).toEqual(before);
  });

  it.each<[string, 1 | 2, (files: Files) => Promise<string[]>]>([
    ['the tokens file is missing', 1, async (files) => argsOf({ ...files, tokens: '/no/tokens' })],
    [
      'the tokens file has a wrong line',
      1,
      async (files) => argsOf({ ...files, tokens: await files.write('tokens', 'a b c\n') }),
    ],
    ['the certificate is missing', 1, async (files) => argsOf({ ...files, cert: '/no/cert' })],
    [
      'the key is of another certificate',
      1,
      async (files) => argsOf({ ...files, key: await files.write('key.pem', other.key) }),
    ],
    [
      'the folder of the database is missing',
      1,
      async (files) => argsOf({ ...files, database: `sqlite:${files.folder}/no/plants.db` }),
    ],
    [
      'the database is a folder',
      1,
      async (files) => {
        await mkdir(join(files.folder, 'plants.db'));
        return argsOf(files);
      },
    ],
    [
      'the database is a link into a missing folder',
      1,
      async (files) => {
        await symlink(join(files.folder, 'no/plants.db'), join(files.folder, 'plants.db'));
        return argsOf(files);
      },
    ],
    [
      'the host has no address',
      2,
      async (files) => [...argsOf(files), '--host', 'no-such-host..invalid'],
    ],
  ])('--check-settings reports that %s, as a start does', async (_, status, argsIn) => {
    const args = await argsIn(await filesOf(one));
    const { stdout, ...start } = await run(args);
    expect(stdout).toBe('');
    expect(start.status).toBe(status);
    expect(start.stderr).toMatch(/^plantstore-server: cannot [^\n]+\n$/);
    expect(await run([...args, '--check-settings'])).toMatchObject(start);
  });

  it('--check-settings warns of expired tokens, and says if there is no other', async () => {
    const files = await filesOf(one);
    const stderrOf = async (text: string) => {
      const args = argsOf({ ...files, tokens: await files.write('tokens', text) });
      const { status, stderr } = await run([...args, '--check-settings']);
      expect(status).toBe(0);
      return stderr;
    };
    const expired = 'one until=2020-01-31 name=shed\n';
    expect(await stderrOf(expired)).toBe(
      'plantstore-server: warning: tokens of the file have expired and are rejected: shed; there is no other, so every client is refused\n',
    );
    expect(await stderrOf(`${expired}two\n`)).toBe(
      'plantstore-server: warning: tokens of the file have expired and are rejected: shed\n',
    );
  });

  it('--check-settings reports all problems together', async () => {
    const files = await filesOf(one);
    const args = argsOf({
      ...files,
      cert: '/no/cert',
      tokens: '/no/tokens',
      database: 'sqlite:/no/plants.db',
    });
    const { status, stderr } = await run([...args, '--check-settings']);
    expect(status).toBe(1);
    expect(stderr.match(/^plantstore-server: cannot [^(]+\(--[a-z-]+/gm)).toEqual([
      'plantstore-server: cannot use the certificate (--tls-cert',
      'plantstore-server: cannot use the tokens file (--tokens-file',
      'plantstore-server: cannot open the database (--database',
    ]);
  });
});
