import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { afterEach, expect, it, vi } from 'vitest';
import { outcomesOf, plantsFrom } from '../../test/behind-proxy.ts';
import { newTable, open } from '../../test/open.ts';
import { startProxy } from '../../test/postgres-proxy.ts';
import { runSql, sharedUrl } from '../../test/shared-postgres.ts';
import type { PostgresRepository } from '../repository.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Creates a database behind a proxy, with a role whose password the test changes. */
const newGuarded = async () => {
  const { database, direct, role, url: ofRole } = await newTable();
  const proxy = await startProxy();
  const url = `${proxy.through(ofRole)}?sslmode=disable`;
  const setPassword = async (text: string) =>
    runSql(direct, `ALTER ROLE ${role.user} PASSWORD '${text}'`);
  return { proxy, direct, role, url, setPassword, database };
};

const reasonOf = async (repository: PostgresRepository) => {
  const created = await repository.create({ id: 1n, name: 'x' });
  return created.isErr() && 'reason' in created.error ? created.error.reason : 'created';
};

/** SQLSTATEs, and statements that forbid and permit logins of a role to a database. */
const refusals = [
  ['28P01', "ALTER ROLE ROLE PASSWORD 'other'", "ALTER ROLE ROLE PASSWORD 'r0le-p@ss:word'"],
  ['28000', 'ALTER ROLE ROLE NOLOGIN', 'ALTER ROLE ROLE LOGIN'],
  ['42501', 'REVOKE CONNECT ON DATABASE DB FROM PUBLIC', 'GRANT CONNECT ON DATABASE DB TO PUBLIC'],
  ['55000', 'ALTER DATABASE DB ALLOW_CONNECTIONS 0', 'ALTER DATABASE DB ALLOW_CONNECTIONS 1'],
  ['3D000', 'ALTER DATABASE DB RENAME TO DB_', 'ALTER DATABASE DB_ RENAME TO DB'],
] as const;

it('a login that is refused pauses logins: creates fail immediately with its reason, and succeed by themselves afterwards', async () => {
  const expectPause = async ([state, forbid, permit]: (typeof refusals)[number]) => {
    const { proxy, role, url, database } = await newGuarded();
    const run = async (statement: string) =>
      runSql(
        sharedUrl('postgres'),
        statement.replaceAll('DB', database).replace('ROLE ROLE', `ROLE ${role.user}`),
      );
    const repository = await open(url);
    proxy.resetAll();
    // A database cannot be renamed while a session ends.
    const isForbidden = async () => run(forbid).then(Boolean, () => false);
    await expect.poll(isForbidden).toBe(true);
    const before = proxy.connections();
    for (let count = 0; count < 50; count += 1) {
      const reason = await reasonOf(repository);
      expect(reason).toContain(`(${state})`);
      const isOfPassword = reason.includes(`correct the password of the role ${role.user}`);
      expect(isOfPassword).toBe(state === '28P01');
    }
    // After 0, 1, 3, 7, … seconds.
    expect(proxy.connections() - before).toBeLessThan(5);
    expect((await repository.check())._unsafeUnwrapErr().reason).toContain(`(${state})`);
    await run(permit);
    await expect.poll(async () => reasonOf(repository), { interval: 100 }).toBe('created');
  };
  await Promise.all(refusals.map(expectPause));
});

it('creates use the other connection while a login is refused', async () => {
  const { direct, url, setPassword, database } = await newGuarded();
  const repository = await open(url);
  await outcomesOf(repository, plantsFrom(0, 3_000));
  await setPassword('other');
  await runSql(
    direct,
    `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
      WHERE datname = '${database}' AND application_name = 'plantstore' LIMIT 1) AS one`,
  );
  const outcomes = await outcomesOf(repository, plantsFrom(10_000, 3_000));
  expect(new Set(outcomes)).toEqual(new Set(['ok']));
});

it('a password file that is replaced is used by the next create, also during a pause', async () => {
  const file = join(await makeFolder(), 'pgpass');
  const write = async (password: string) => {
    await writeFile(`${file}.new`, `*:*:*:*:${password}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  vi.stubEnv('PGPASSFILE', file);
  const { proxy, url, setPassword } = await newGuarded();
  await setPassword('first');
  await write('first');
  const repository = await open(url.replace(/:[^:@/]+@/, '@'));
  await setPassword('second');
  proxy.resetAll();
  expect(await reasonOf(repository)).toContain('password authentication failed');
  await write('second');
  expect(await reasonOf(repository)).toBe('created');
});

it('a server that refuses the login does not end the wait for another server of the URL', async () => {
  const { proxy, url } = await newGuarded();
  const other = await startProxy();
  const one = `127.0.0.1:${proxy.port}`;
  const both = url.replace(one, `${one},localhost:${other.port}`);
  const repository = await open(both, { connectTimeoutMs: 300 });
  // The first is lost, and the second refuses logins.
  other.onStatement(() => ({ error: '28000', severity: 'FATAL' }));
  proxy.freeze(true);
  proxy.resetAll();
  const creating = reasonOf(repository);
  await expect.poll(() => other.connections()).toBeGreaterThan(1);
  proxy.freeze(false);
  expect(await creating).toBe('created');
});
