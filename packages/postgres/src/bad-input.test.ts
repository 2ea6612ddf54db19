import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { superuserPassword } from '@plantstore/test-support/postgres-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPostgresRepository, readPlantBatches, readPlants } from './index.ts';
import { failToOpen, noResponseWithin, openAndClose } from '../test/open.ts';
import { startProxy } from '../test/postgres-proxy.ts';
import { emptyDatabase, sharedUrl } from '../test/shared-postgres.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const writePassFile = async (line: string, mode: number) => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'pgpass'), `${line}\n`);
  await chmod(join(folder, 'pgpass'), mode);
  vi.stubEnv('PGPASSFILE', join(folder, 'pgpass'));
};

const withoutPassword = (database: string) =>
  sharedUrl(database).replace(encodeURIComponent(superuserPassword), '').replace(':@', '@');

describe('unavailable server', () => {
  it('a server is reported as unreachable when no process listens on its port', async () => {
    const error = await failToOpen('postgres://ada:secret@127.0.0.1:1/garden');
    expect(error.kind).toBe('unreachable');
    expect(error.message).toMatch(/start it, or correct the host and the port.*127\.0\.0\.1:1/);
  });

  it('a server is reported as unreachable when its name does not resolve', async () => {
    const error = await failToOpen('postgres://ada:secret@no-such-host.invalid/garden');
    expect(error.kind).toBe('unreachable');
    expect(error.message).toContain('no-such-host.invalid:5432');
  });

  it('a server is reported as unreachable when it accepts the connection and does not respond', async () => {
    const proxy = await startProxy();
    proxy.freeze(true);
    const error = await failToOpen(`postgres://ada:secret@127.0.0.1:${proxy.port}/garden`, {
      connectTimeoutMs: 1_000,
    });
    expect(error).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(noResponseWithin(1_000)) as unknown,
    });
  });

  it('a server is reported as unreachable when it accepts the login and does not respond to a statement', async () => {
    const proxy = await startProxy();
    proxy.onStatement(() => 'discard');
    const url = proxy.through(sharedUrl('postgres'));
    expect(await failToOpen(url, { connectTimeoutMs: 1_000 })).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(noResponseWithin(1_000)) as unknown,
    });
  });

  it('a server is reported as unreachable when it is starting up or has too many connections', async () => {
    const proxy = await startProxy();
    for (const error of ['57P03', '53300']) {
      proxy.onStatement(() => ({ error, severity: 'FATAL' }));
      const url = proxy.through(sharedUrl('postgres'));
      expect((await failToOpen(url)).kind).toBe('unreachable');
    }
  });
});

describe('a refused login', () => {
  it('a login with a wrong password is access-denied', async () => {
    const error = await failToOpen(sharedUrl('postgres', { password: 'wr0ng-password' }));
    expect(error.kind).toBe('access-denied');
    expect(error.message).toMatch(/^correct the password of the role postgres.*\(28P01\)/);
  });

  it('a login without a password is access-denied', async () => {
    vi.stubEnv('PGPASSFILE', '/nowhere');
    const error = await failToOpen(withoutPassword('postgres'));
    expect(error.kind).toBe('access-denied');
    expect(error.message).toMatch(/password .* in the URL, PGPASSWORD or the password file/);
  });

  it('a login of an unknown role is access-denied', async () => {
    const error = await failToOpen(sharedUrl('postgres', { user: 'no_such_role' }));
    expect(error).toMatchObject({
      kind: 'access-denied',
      message: expect.stringContaining('no_such_role') as unknown,
    });
  });

  it('a login to an unknown database is database-unknown', async () => {
    const error = await failToOpen(sharedUrl('no_such_garden'));
    expect(error.kind).toBe('database-unknown');
    expect(error.message).toMatch(/"createdb --encoding=UTF8 no_such_garden".*does not exist/);
  });
});

describe('password outside the URL', () => {
  it('a password outside the URL is read from PGPASSWORD', async () => {
    vi.stubEnv('PGPASSWORD', superuserPassword);
    await openAndClose(withoutPassword(await emptyDatabase()));
  });

  it('a password outside the URL is read from a password file that only this user can read', async () => {
    const escaped = superuserPassword.replaceAll(/[\\:]/g, String.raw`\$&`);
    await writePassFile(`127.0.0.1:*:*:postgres:${escaped}`, 0o600);
    await openAndClose(withoutPassword(await emptyDatabase()));
  });

  it('a password outside the URL is not read from a password file that other users can read', async ({
    skip,
  }) => {
    skip(process.platform === 'win32', 'Windows does not have file modes');
    const escaped = superuserPassword.replaceAll(/[\\:]/g, String.raw`\$&`);
    await writePassFile(`127.0.0.1:*:*:postgres:${escaped}`, 0o644);
    expect((await failToOpen(withoutPassword('postgres'))).kind).toBe('access-denied');
  });
});

describe('a password', () => {
  it('a password is in no error, also when the error is inspected or serialized', async () => {
    const secrets = [superuserPassword, encodeURIComponent(superuserPassword), 'hunter'];
    const url = sharedUrl('postgres');
    const urls = [
      sharedUrl('no_such_garden'),
      `${url}?sslmode=require`,
      `${url}?sslmode=verify-full&sslrootcert=/nowhere`,
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
      'postgres://ada@localhost/x?channel_binding=hunter',
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
});

describe('server without TLS', () => {
  it('a server without TLS is refused when the URL requires TLS, and used otherwise', async () => {
    const url = sharedUrl(await emptyDatabase());
    for (const mode of ['require', 'verify-full']) {
      expect(await failToOpen(`${url}?sslmode=${mode}`)).toMatchObject({
        kind: 'tls-failed',
        message: expect.stringContaining('does not support SSL') as unknown,
      });
    }
    const bound = await failToOpen(`${url}?channel_binding=require`);
    expect(bound.kind).toBe('tls-failed');
    expect(bound.message).toContain('channel_binding');
    for (const mode of ['prefer', 'disable']) await openAndClose(`${url}?sslmode=${mode}`);
  });
});

describe('a url that is no string', () => {
  const options = { url: undefined } as unknown as { readonly url: string };
  it.each([
    ['openPostgresRepository', () => openPostgresRepository(options)],
    ['readPlants', () => readPlants(options).next()],
    ['readPlantBatches', () => readPlantBatches(options).next()],
  ])('%s rejects and names a url that is no string', async (_, call) => {
    await expect(call()).rejects.toThrow('a URL must be a string');
  });
});
