import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { superuserPassword } from '@plantstore/test-support/postgres-server';
import { afterEach, expect, it, vi } from 'vitest';
import { openPostgresRepository, readPlantBatches, readPlants } from './index.ts';
import { failToOpen, noResponseWithin, openAndClose } from '../test/open.ts';
import { startProxy } from '../test/postgres-proxy.ts';
import { emptyDatabase, sharedUrl } from '../test/shared-postgres.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const expectRefused = async (url: string, kind: string, message: RegExp, options = {}) => {
  const error = await failToOpen(url, options);
  expect([error.kind, error.message]).toEqual([kind, expect.stringMatching(message)]);
};

const withoutPassword = (database: string) =>
  sharedUrl(database).replace(encodeURIComponent(superuserPassword), '').replace(':@', '@');

it.each([
  ['127.0.0.1:1', /start it, or correct the host and the port.*127\.0\.0\.1:1/],
  ['127.0.0.1:0', /correct the host and the port.*127\.0\.0\.1:0/],
  ['no-such-host.invalid', /no-such-host\.invalid:5432/],
])('a server is unreachable when no process listens at %s', async (host, message) => {
  await expectRefused(`postgres://ada:secret@${host}/garden`, 'unreachable', message);
});

it('a server is unreachable when its port is no number', async () => {
  vi.stubEnv('PGPORT', 'x');
  await expectRefused('postgres://ada:secret@h/x', 'unreachable', /correct the host and the port/);
});

it('a server is unreachable when it does not respond to the connection, or to a statement', async () => {
  const proxy = await startProxy();
  const limits = { connectTimeoutMs: 1_000 };
  const message = new RegExp(noResponseWithin(1_000));
  proxy.onStatement(() => 'discard');
  await expectRefused(proxy.through(sharedUrl('postgres')), 'unreachable', message, limits);
  proxy.freeze(true);
  const silent = `postgres://ada:secret@127.0.0.1:${proxy.port}/garden`;
  await expectRefused(silent, 'unreachable', message, limits);
});

it('a server is unreachable when it is starting up or has too many connections', async () => {
  const proxy = await startProxy();
  for (const error of ['57P03', '53300']) {
    proxy.onStatement(() => ({ error, severity: 'FATAL' }));
    const url = proxy.through(sharedUrl('postgres'));
    await expectRefused(url, 'unreachable', /starting.*no connection free \(one is enough\)/);
  }
});

it('a full disk or a protocol error is named with the words of the server only', async () => {
  const proxy = await startProxy();
  for (const error of ['53100', '08P01']) {
    proxy.onStatement(() => ({ error, severity: 'FATAL' }));
    const url = proxy.through(sharedUrl('postgres'));
    const message = new RegExp(`^the database cannot be used .*${error}`);
    await expectRefused(url, 'unexpected', message);
  }
});

it('a login is refused with what must be corrected', async () => {
  const password = { password: 'wr0ng-password' };
  const wrong = /^correct the password of the role postgres .*PGPASSWORD.*\(28P01\)/;
  await expectRefused(sharedUrl('postgres', password), 'access-denied', wrong);
  const unknown = sharedUrl('postgres', { user: 'no_such_role' });
  await expectRefused(unknown, 'access-denied', /no_such_role/);
  const database = /"createdb --encoding=UTF8 no_such_garden".*does not exist/;
  await expectRefused(sharedUrl('no_such_garden'), 'database-unknown', database);
  vi.stubEnv('PGPASSFILE', '/nowhere');
  const without = /password .* in the URL, PGPASSWORD or the password file/;
  await expectRefused(withoutPassword('postgres'), 'access-denied', without);
});

it('a password outside the URL is read from PGPASSWORD', async () => {
  vi.stubEnv('PGPASSWORD', superuserPassword);
  await openAndClose(withoutPassword(await emptyDatabase()));
});

it('a password outside the URL is read from a password file, unless other users can read it', async () => {
  const file = join(await makeFolder(), 'pgpass');
  vi.stubEnv('PGPASSFILE', file);
  const escaped = superuserPassword.replaceAll(/[\\:]/g, String.raw`\$&`);
  await writeFile(file, `127.0.0.1:*:*:postgres:${escaped}\n`, { mode: 0o600 });
  const url = withoutPassword(await emptyDatabase());
  await openAndClose(url);
  // Windows does not have file modes.
  if (process.platform === 'win32') return;
  await chmod(file, 0o644);
  await expectRefused(url, 'access-denied', /password/);
});

it('a password is in no error, also when the error is inspected or serialized', async () => {
  const secrets = [superuserPassword, encodeURIComponent(superuserPassword), 'hunter'];
  const url = sharedUrl('postgres');
  const urls = [
    sharedUrl('no_such_garden'),
    `${url}?sslmode=require`,
    `${url}?sslmode=verify-full&sslrootcert=/nowhere`,
    `${url}?sslmode=verify-ca`,
    url.replace(/:\d+\//, ':1/'),
    url.replace('127.0.0.1', 'no-such-host.invalid'),
    'postgres://ada:hunter/2@localhost/garden',
    'postgres://ada:hunter?2@localhost/garden',
    'postgres://ada:hunter#2@localhost/garden',
    'postgres://ada:hunter%@localhost/garden',
    'postgres://ada:hunter@localhost:x/garden',
    'postgres://ada:5432?hunter=2',
    'postgres://ada:5432/1?hunter=2',
    'postgres://ada@localhost/x?colour=hunter',
    'postgres://ada@localhost/x?connect_timeout=hunter',
    'postgres://ada@localhost/x?client_encoding=hunter',
    'postgres://ada:5432?sslmode=hunter',
    'ada:hunter@localhost/garden',
    sharedUrl('postgres', { password: 'hunter' }),
  ];
  for (const one of urls) {
    const error = await failToOpen(one);
    const shown = [
      inspect(error, { depth: null, showHidden: true }),
      JSON.stringify(error),
      error.cause instanceof Error ? (error.cause.stack ?? '') : '',
    ].join('\n');
    for (const secret of secrets) expect(shown).not.toContain(secret);
  }
});

it('a server without TLS is refused when the URL requires TLS, and used otherwise', async () => {
  const url = sharedUrl(await emptyDatabase());
  for (const mode of ['require', 'verify-full'])
    await expectRefused(`${url}?sslmode=${mode}`, 'tls-failed', /does not support SSL/);
  await expectRefused(`${url}?channel_binding=require`, 'tls-failed', /channel_binding/);
  for (const mode of ['prefer', 'disable']) await openAndClose(`${url}?sslmode=${mode}`);
});

it('a url that is no string is named', async () => {
  const options = { url: undefined } as unknown as { readonly url: string };
  const calls = [
    () => openPostgresRepository(options),
    () => readPlants(options).next(),
    () => readPlantBatches(options).next(),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow('a URL must be a string');
});
