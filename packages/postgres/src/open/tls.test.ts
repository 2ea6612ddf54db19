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
  let access = '';
  beforeAll(async () => {
    server = await startPostgres();
    const data = join(server.folder, 'data');
    authority = await writeCertificate(data, 'server');
    otherCa = await writeCertificate(data, 'otherCa');
    access = join(data, 'pg_hba.conf');
    const rules = await readFile(access, 'utf8');
    await writeFile(access, rules.replaceAll(/^host /gm, 'hostssl '));
    await runSql(server.url(), 'ALTER SYSTEM SET ssl = on');
    await server.stop();
    await server.start();
  });
  afterAll(async () => server.dispose());

  const admin = async (...statements: readonly string[]) =>
    runSql(`${server.url()}?sslmode=no-verify`, ...statements);
  const reload = 'SELECT pg_reload_conf()';

  /** Puts rules before the others until the end of the test. They take effect some time later. */
  const permit = async (...rules: readonly string[]) => {
    const others = await readFile(access, 'utf8');
    onTestFinished(async () => {
      await writeFile(access, others);
      await admin(reload);
    });
    await writeFile(access, `${rules.join('\n')}\n${others}`);
    await admin(reload);
  };

  const urlOf = (parameters: string, host = '127.0.0.1') =>
    `${server.url().replace('127.0.0.1', host)}?${parameters
      .replace('AUTHORITY', authority)
      .replace('OTHER_CA', otherCa)}`;

  it.each([
    ['', '127.0.0.1'],
    ['sslmode=require&channel_binding=require', '127.0.0.1'],
    ['sslmode=require&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-ca&sslrootcert=AUTHORITY', 'localhost'],
    ['sslmode=verify-full&sslrootcert=AUTHORITY', '127.0.0.1'],
  ])(
    'a server that requires TLS is used over an encrypted connection with "%s" at %s',
    async (parameters, host) => {
      const url = urlOf(parameters, host);
      const repository = (await openPostgresRepository({ ...noLimits, url }))._unsafeUnwrap();
      expect((await repository.create({ id: 7n, name: 'Monstera' })).isOk()).toBe(true);
      const encrypted = `SELECT bool_and(ssl) AS encrypted
        FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'plantstore'`;
      expect(await admin(encrypted)).toEqual([{ encrypted: true }]);
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
    const error = await failToOpen(urlOf(parameters, host));
    expect(error.kind).toBe('tls-failed');
    expect(error.message).toMatch(/sslrootcert/);
  });

  it('a login that pg_hba.conf refuses with TLS is tried without it, unless the URL requires TLS, and the reverse is refused', async () => {
    await admin("CREATE ROLE plain LOGIN SUPERUSER PASSWORD 'hunter'");
    await permit(
      'hostssl all plain 127.0.0.1/32 reject',
      'hostnossl all plain 127.0.0.1/32 scram-sha-256',
    );
    const url = `postgres://plain:hunter@127.0.0.1:${server.port}/postgres`;
    await expect
      .poll(async () => failToOpen(`${url}?sslmode=require`))
      .toMatchObject({
        kind: 'access-denied',
        message: expect.stringMatching(/correct its pg_hba.conf.*28000/) as unknown,
      });
    await openAndClose(url);
    expect(await failToOpen(urlOf('sslmode=disable'))).toMatchObject({
      kind: 'access-denied',
      message: expect.stringContaining('no encryption') as unknown,
    });
  });

  it('the files of the CA and the client are read for each connection', async () => {
    const fileOf = (name: string) => join(server.folder, 'data', name);
    const use = async (file: string, source: string) => {
      await copyFile(source, fileOf(file));
      await admin(endSessions);
    };
    await use('ca.pem', authority);
    await use('client.crt', otherCa);
    await use('client.key', fileOf('otherCa.key'));
    const client = `sslcert=${fileOf('client.crt')}&sslkey=${fileOf('client.key')}`;
    const url = urlOf(`sslmode=verify-full&sslrootcert=${fileOf('ca.pem')}&${client}`);
    const opened = await openPostgresRepository({ ...noLimits, url, deadlineMs: 500 });
    const repository = opened._unsafeUnwrap();
    onTestFinished(repository.close);
    const create = async () => repository.create({ id: 8n, name: 'Ficus' });
    for (const [file, good, bad] of [
      ['ca.pem', authority, otherCa],
      ['client.key', fileOf('otherCa.key'), fileOf('server.key')],
    ] as const) {
      await use(file, bad);
      // On a busy machine, a create can reach its deadline before the login is refused.
      const refused = { reason: expect.stringContaining('no secure connection') as unknown };
      await expect.poll(async () => (await create())._unsafeUnwrapErr()).toMatchObject(refused);
      await use(file, good);
      await expect.poll(async () => (await create()).isOk()).toBe(true);
    }
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
    ['no authentication', [0, 0, 0, 0]],
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
});
