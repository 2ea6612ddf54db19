import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requiresOpenssl, makeCertificate } from '@plantstore/test-support/certificate';
import {
  changeOwner,
  type PostgresServer,
  startPostgres,
} from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { failToOpen, noLimits, openAndClose } from '../../test/open.ts';
import { endSessions, runSql } from '../../test/shared-postgres.ts';
import { openPostgresRepository } from '../repository.ts';

const run = promisify(execFile);

/** Writes a certificate and its key into a folder, for the user of the server. */
const writeCertificate = async (folder: string, name: string) => {
  const { cert, key } = await makeCertificate();
  const certificate = join(folder, `${name}.crt`);
  const keyFile = join(folder, `${name}.key`);
  await writeFile(certificate, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  await changeOwner(keyFile);
  await changeOwner(certificate);
  return certificate;
};

describe('server that requires TLS', requiresOpenssl, () => {
  let server: PostgresServer;
  let authority = '';
  let otherCa = '';
  beforeAll(async () => {
    server = await startPostgres();
    const data = join(server.folder, 'data');
    authority = await writeCertificate(data, 'server');
    otherCa = await writeCertificate(data, 'otherCa');
    const access = join(data, 'pg_hba.conf');
    const rules = await readFile(access, 'utf8');
    await writeFile(access, rules.replaceAll(/^host /gm, 'hostssl '));
    await runSql(server.url(), 'ALTER SYSTEM SET ssl = on');
    await server.stop();
    await server.start();
  });
  afterAll(async () => server.dispose());

  const open = async (parameters: string, host = '127.0.0.1') =>
    openPostgresRepository({
      ...noLimits,
      url: `${server.url().replace('127.0.0.1', host)}?${parameters}`,
    });

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
    ['sslmode=require&channel_binding=require', '127.0.0.1'],
    ['sslmode=require&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-ca&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-full&sslrootcert=AUTHORITY', '127.0.0.1'],
  ])(
    'a server that requires TLS is used over an encrypted connection with "%s" at %s',
    async (parameters, host) => {
      const opened = await open(parameters.replace('AUTHORITY', authority), host);
      const repository = opened._unsafeUnwrap();
      expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
      expect(await isEncrypted()).toBe(true);
      await repository.close();
    },
  );

  it.each([
    ['sslmode=verify-full', '127.0.0.1'],
    ['sslmode=verify-full&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-full&sslrootcert=OTHER_CA', '127.0.0.1'],
    ['sslmode=verify-ca&sslrootcert=OTHER_CA', '127.0.0.1'],
    ['sslmode=require&sslrootcert=OTHER_CA', '127.0.0.1'],
    ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', '127.0.0.1'],
  ])('a server that requires TLS is refused with "%s" at %s', async (parameters, host) => {
    const written = parameters.replace('AUTHORITY', authority).replace('OTHER_CA', otherCa);
    const error = (await open(written, host))._unsafeUnwrapErr();
    expect(error.kind).toBe('tls-failed');
    expect(error.message).toMatch(/sslrootcert/);
  });

  it('a server is refused when channel binding is required and it uses another authentication method', async () => {
    const access = join(server.folder, 'data/pg_hba.conf');
    const rules = await readFile(access, 'utf8');
    onTestFinished(async () => {
      await writeFile(access, rules);
      await runSql(`${server.url()}?sslmode=no-verify`, 'SELECT pg_reload_conf()');
    });
    for (const method of ['trust', 'password', 'md5']) {
      const role = `${method}_role`;
      await runSql(
        `${server.url()}?sslmode=no-verify`,
        `SET password_encryption = '${method === 'md5' ? 'md5' : 'scram-sha-256'}'`,
        `CREATE ROLE ${role} LOGIN PASSWORD 'hunter'`,
      );
      await writeFile(access, `hostssl all ${role} 127.0.0.1/32 ${method}\n${rules}`);
      await runSql(`${server.url()}?sslmode=no-verify`, 'SELECT pg_reload_conf()');
      const url = `postgres://${role}:hunter@127.0.0.1:${server.port}/postgres?channel_binding=require`;
      // The reload takes effect some time after the statement.
      await expect
        .poll(async () => failToOpen(url))
        .toMatchObject({
          kind: 'tls-failed',
          message: expect.stringContaining('channel_binding=require permits') as unknown,
        });
    }
  });

  it('a login that pg_hba.conf refuses with TLS is tried without it, unless the URL requires TLS', async () => {
    const access = join(server.folder, 'data/pg_hba.conf');
    const rules = await readFile(access, 'utf8');
    const admin = `${server.url()}?sslmode=no-verify`;
    onTestFinished(async () => {
      await writeFile(access, rules);
      await runSql(admin, 'SELECT pg_reload_conf()');
    });
    await runSql(admin, "CREATE ROLE plain LOGIN SUPERUSER PASSWORD 'hunter'");
    await writeFile(access, `hostnossl all plain 127.0.0.1/32 scram-sha-256\n${rules}`);
    await writeFile(
      access,
      `hostssl all plain 127.0.0.1/32 reject\n${await readFile(access, 'utf8')}`,
    );
    await runSql(admin, 'SELECT pg_reload_conf()');
    const url = `postgres://plain:hunter@127.0.0.1:${server.port}/postgres`;
    await expect
      .poll(async () => failToOpen(`${url}?sslmode=require`))
      .toMatchObject({
        kind: 'access-denied',
        message: expect.stringMatching(/correct its pg_hba.conf.*28000/) as unknown,
      });
    await openAndClose(url);
  });

  it('the files of the CA, the server and the client are read for each connection', async () => {
    const data = join(server.folder, 'data');
    const fileOf = (name: string) => join(data, name);
    const admin = `${server.url()}?sslmode=no-verify`;
    const use = async (file: string, source: string) => {
      await copyFile(source, fileOf(file));
      await changeOwner(fileOf(file));
      await runSql(admin, endSessions);
    };
    await use('ca.pem', authority);
    await use('client.crt', otherCa);
    await use('client.key', fileOf('otherCa.key'));
    const files = `sslrootcert=${fileOf('ca.pem')}&sslcert=${fileOf('client.crt')}&sslkey=${fileOf('client.key')}`;
    const url = `${server.url()}?sslmode=verify-full&${files}`;
    const opened = await openPostgresRepository({ ...noLimits, url, deadlineMs: 500 });
    const repository = opened._unsafeUnwrap();
    onTestFinished(repository.close);
    const create = async () => repository.create({ id: 8n, name: 'Ficus' });
    const expectCreated = async () => expect.poll(async () => (await create()).isOk()).toBe(true);
    const expectRefused = async () =>
      expect((await create())._unsafeUnwrapErr()).toMatchObject({
        reason: expect.stringContaining('no secure connection') as unknown,
      });
    await expectCreated();
    // A CA alone.
    await use('ca.pem', otherCa);
    await expectRefused();
    // The server's certificate: a reload takes effect some time after the statement.
    onTestFinished(async () => {
      await runSql(admin, 'ALTER SYSTEM RESET ssl_cert_file', 'ALTER SYSTEM RESET ssl_key_file');
      await runSql(admin, 'SELECT pg_reload_conf()');
    });
    await runSql(
      admin,
      "ALTER SYSTEM SET ssl_cert_file = 'otherCa.crt'",
      "ALTER SYSTEM SET ssl_key_file = 'otherCa.key'",
      'SELECT pg_reload_conf()',
    );
    await expectCreated();
    await use('client.key', fileOf('server.key'));
    await expectRefused();
    await use('client.crt', authority);
    await expectCreated();
  });

  it('a malformed client certificate file is refused', async () => {
    const malformed = join(server.folder, 'malformed.pem');
    await writeFile(malformed, 'not a certificate');
    const error = (
      await open(`sslmode=require&sslcert=${malformed}&sslkey=${malformed}`)
    )._unsafeUnwrapErr();
    expect(error.kind).toBe('tls-failed');
    expect(error.message).toMatch(/sslcert/);
  });

  /** Starts a server that accepts TLS and does the rest itself, and returns its URL. */
  const startImpostor = async (onSecure: (secure: TLSSocket) => void) => {
    const key = await readFile(authority.replace(/crt$/, 'key'));
    const secureContext = createSecureContext({ key, cert: await readFile(authority) });
    const impostor = createServer((socket) => {
      socket.once('data', () => {
        socket.write('S');
        const secure = new TLSSocket(socket, { isServer: true, secureContext });
        secure.on('error', () => {});
        onSecure(secure);
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void impostor.close());
    await once(impostor, 'listening');
    const { port } = impostor.address() as AddressInfo;
    return `postgres://ada:secret@127.0.0.1:${port}/garden?sslmode=require`;
  };

  it('a malformed message over TLS does not crash the process', async () => {
    const url = await startImpostor((secure) => {
      secure.once('data', () => secure.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 7])));
    });
    const error = await failToOpen(url);
    expect(error.message).toContain('authenticationOk message type 7');
  });

  it.each([
    ['a password', [0, 0, 0, 3]],
    ['an MD5 password', [0, 0, 0, 5, 1, 2, 3, 4]],
    ['SCRAM without channel binding', [0, 0, 0, 10, ...Buffer.from('SCRAM-SHA-256'), 0, 0]],
  ])(
    'a server that requests %s gets nothing when channel binding is required',
    async (_, authentication) => {
      const received: Buffer[] = [];
      const closed = Promise.withResolvers<void>();
      const url = await startImpostor((secure) => {
        secure.once('data', () => {
          secure.write(Buffer.from([0x52, 0, 0, 0, 4 + authentication.length, ...authentication]));
          secure.on('data', (chunk: Buffer) => void received.push(chunk));
        });
        secure.once('close', () => closed.resolve());
      });
      expect((await failToOpen(`${url}&channel_binding=require`)).kind).toBe('tls-failed');
      await closed.promise;
      expect(Buffer.concat(received).toString('latin1')).toBe('');
    },
  );

  it('an open TLS connection does not keep a process alive', async ({ signal }) => {
    const program = fileURLToPath(new URL('../../test/leave-open.ts', import.meta.url));
    const url = `${server.url()}?sslmode=require`;
    const { stdout } = await run(process.execPath, [program, url], { signal });
    expect(stdout).toBe('created');
  });

  it('a server that requires TLS refuses an unencrypted connection', async () => {
    const error = (await open('sslmode=disable'))._unsafeUnwrapErr();
    expect(error).toMatchObject({
      kind: 'access-denied',
      message: expect.stringContaining('no encryption') as unknown,
    });
  });
});
