import { readdir, writeFile } from 'node:fs/promises';
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
    cert: await write('cert.pem', cert),
    key: await write('key.pem', key),
    tokens: await write('tokens', 'one name=shed\n'),
    database: `sqlite:${join(folder, 'plants.db')}`,
  };
};
type Files = Awaited<ReturnType<typeof filesOf>>;

const argsOf = ({ cert, key, tokens, database }: Omit<Files, 'folder'>) => [
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
  beforeAll(async () => {
    one = await makeCertificate();
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
});
