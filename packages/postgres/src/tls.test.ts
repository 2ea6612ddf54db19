import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveToServer, type PostgresServer, startPostgres } from '../test/postgres-server.ts';
import { runSql } from '../test/shared-postgres.ts';
import { openPostgresRepository } from './open-postgres-repository.ts';

const run = promisify(execFile);

const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
);

/** Makes a certificate for the address 127.0.0.1, which is its own authority. */
const makeCertificate = async (folder: string, name: string) => {
  const certificate = join(folder, `${name}.crt`);
  const key = join(folder, `${name}.key`);
  const what = ['-subj', '/CN=plantstore', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const how = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', ['req', '-x509', ...how, ...what, '-keyout', key, '-out', certificate]);
  await giveToServer(key);
  return certificate;
};

describe.runIf(hasOpenssl)('a server that wants TLS', () => {
  let server: PostgresServer;
  let authority = '';
  let stranger = '';
  beforeAll(async () => {
    server = await startPostgres();
    const data = join(server.folder, 'data');
    authority = await makeCertificate(data, 'server');
    stranger = await makeCertificate(data, 'stranger');
    const access = join(data, 'pg_hba.conf');
    const rules = await readFile(access, 'utf8');
    await writeFile(access, rules.replaceAll(/^host /gm, 'hostssl '));
    await runSql(server.url(), 'ALTER SYSTEM SET ssl = on');
    await server.stop();
    await server.start();
  });
  afterAll(async () => server.dispose());

  const open = async (parameters: string, host = '127.0.0.1') =>
    openPostgresRepository({ url: `${server.url().replace('127.0.0.1', host)}?${parameters}` });

  const isEncrypted = async () => {
    const [row] = await runSql(
      `${server.url()}?sslmode=no-verify`,
      `SELECT bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'plantstore'`,
    );
    return row?.['encrypted'];
  };

  it.each([
    ['', '127.0.0.1'],
    ['sslmode=require', '127.0.0.1'],
    ['sslmode=require&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-ca&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-full&sslrootcert=AUTHORITY', '127.0.0.1'],
  ])('is written to, encrypted, with "%s" at %s', async (parameters, host) => {
    const opened = await open(parameters.replace('AUTHORITY', authority), host);
    const repository = opened._unsafeUnwrap();
    expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
    expect(await isEncrypted()).toBe(true);
    await repository.close();
  });

  it.each([
    ['sslmode=verify-full', '127.0.0.1'],
    ['sslmode=verify-full&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-full&sslrootcert=STRANGER', '127.0.0.1'],
    ['sslmode=verify-ca&sslrootcert=STRANGER', '127.0.0.1'],
    ['sslmode=require&sslrootcert=STRANGER', '127.0.0.1'],
    ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', '127.0.0.1'],
  ])('is refused with "%s" at %s', async (parameters, host) => {
    const written = parameters.replace('AUTHORITY', authority).replace('STRANGER', stranger);
    const error = (await open(written, host))._unsafeUnwrapErr();
    expect(error.kind).toBe('tls-failed');
    expect(error.message).toMatch(/sslrootcert/);
  });

  it('says so to a connection without it', async () => {
    const error = (await open('sslmode=disable'))._unsafeUnwrapErr();
    expect(error).toMatchObject({
      kind: 'access-denied',
      message: expect.stringContaining('no encryption') as unknown,
    });
  });
});
