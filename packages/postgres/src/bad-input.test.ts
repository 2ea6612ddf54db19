import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { superuserPassword } from '@plantstore/test-support/postgres-server';
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { startProxy } from '../test/postgres-proxy.ts';
import { failToOpen, openAndClose } from '../test/open.ts';
import { newDatabase, sharedUrl } from '../test/shared-postgres.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const passFile = async (line: string, mode: number) => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'pgpass'), `${line}\n`);
  await chmod(join(folder, 'pgpass'), mode);
  vi.stubEnv('PGPASSFILE', join(folder, 'pgpass'));
};

const withoutPassword = (database: string) =>
  sharedUrl(database).replace(encodeURIComponent(superuserPassword), '').replace(':@', '@');

describe('a server that cannot be used', () => {
  it('is named when nothing listens at its port', async () => {
    const error = await failToOpen('postgres://ada:secret@127.0.0.1:1/garden');
    expect(error.kind).toBe('unreachable');
    expect(error.message).toMatch(/start it, or correct the host and the port.*127\.0\.0\.1:1/);
  });

  it('is named when its name does not resolve', async () => {
    const error = await failToOpen('postgres://ada:secret@no-such-host.invalid/garden');
    expect(error.kind).toBe('unreachable');
    expect(error.message).toContain('no-such-host.invalid:5432');
  });

  it('is given up when it accepts the connection and says nothing', async () => {
    const proxy = await startProxy(inject('postgresPort'));
    onTestFinished(proxy.close);
    proxy.freeze(true);
    const error = await failToOpen(`postgres://ada:secret@127.0.0.1:${proxy.port}/garden`);
    expect(error).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('no answer within 1000 ms') as unknown,
    });
  });

  it('is named when it is starting up or has no room', async () => {
    const proxy = await startProxy(inject('postgresPort'));
    onTestFinished(proxy.close);
    for (const error of ['57P03', '53300']) {
      proxy.judge(() => ({ error, severity: 'FATAL' }));
      const url = sharedUrl('postgres').replace(/:\d+\/postgres$/, `:${proxy.port}/postgres`);
      expect((await failToOpen(url)).kind).toBe('unreachable');
    }
  });
});

describe('a login that is refused', () => {
  it('is told when the password is wrong', async () => {
    const error = await failToOpen(sharedUrl('postgres', { password: 'wr0ng-password' }));
    expect(error.kind).toBe('access-denied');
    expect(error.message).toMatch(/refuses the role postgres or its password: correct them/);
  });

  it('is told when there is no password at all', async () => {
    vi.stubEnv('PGPASSFILE', '/nowhere');
    const error = await failToOpen(withoutPassword('postgres'));
    expect(error.kind).toBe('access-denied');
    expect(error.message).toMatch(/give its password in the URL, in PGPASSWORD, or in a pass file/);
  });

  it('is told when the role is unknown', async () => {
    const error = await failToOpen(sharedUrl('postgres', { user: 'nobody_here' }));
    expect(error).toMatchObject({
      kind: 'access-denied',
      message: expect.stringContaining('nobody_here') as unknown,
    });
  });

  it('is told when the database is unknown', async () => {
    const error = await failToOpen(sharedUrl('no_such_garden'));
    expect(error.kind).toBe('database-unknown');
    expect(error.message).toMatch(/no database no_such_garden: make it, as with "createdb/);
  });
});

describe('a password from elsewhere', () => {
  it('is taken from PGPASSWORD', async () => {
    vi.stubEnv('PGPASSWORD', superuserPassword);
    await openAndClose(withoutPassword(await newDatabase()));
  });

  it('is taken from a pass file that only this user can read', async () => {
    const escaped = superuserPassword.replaceAll(/[\\:]/g, String.raw`\$&`);
    await passFile(`127.0.0.1:*:*:postgres:${escaped}`, 0o600);
    await openAndClose(withoutPassword(await newDatabase()));
  });

  it('is not taken from a pass file that others can read', async ({ skip }) => {
    skip(process.platform === 'win32', 'files have no such modes here');
    const escaped = superuserPassword.replaceAll(/[\\:]/g, String.raw`\$&`);
    await passFile(`127.0.0.1:*:*:postgres:${escaped}`, 0o644);
    expect((await failToOpen(withoutPassword('postgres'))).kind).toBe('access-denied');
  });
});

describe('a password', () => {
  it('is in no error, however it is looked at', async () => {
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

describe('a server without TLS', () => {
  it('is refused where the URL requires it, and taken where it does not', async () => {
    const url = sharedUrl(await newDatabase());
    for (const mode of ['require', 'verify-full']) {
      expect(await failToOpen(`${url}?sslmode=${mode}`)).toMatchObject({
        kind: 'tls-failed',
        message: expect.stringContaining('does not support SSL') as unknown,
      });
    }
    const bound = await failToOpen(`${url}?channel_binding=require`);
    expect(bound.kind).toBe('tls-failed');
    expect(bound.message).toContain('channel_binding=require');
    for (const mode of ['prefer', 'disable']) await openAndClose(`${url}?sslmode=${mode}`);
  });
});
