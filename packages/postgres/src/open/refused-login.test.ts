import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { afterEach, expect, it, vi } from 'vitest';
import { newTable, open } from '../../test/open.ts';
import { startProxy } from '../../test/postgres-proxy.ts';
import { runSql, sharedUrl } from '../../test/shared-postgres.ts';

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

it('a refused login pauses all logins: creates fail immediately with its reason, and succeed by themselves afterwards', async () => {
  const { proxy, role, url, setPassword } = await newGuarded();
  const repository = await open(url);
  const create = async (id: number) => repository.create({ id: BigInt(id), name: 'x' });
  expect((await create(0)).isOk()).toBe(true);
  await setPassword('other');
  proxy.resetAll();
  const before = proxy.connections();
  for (let id = 1; id <= 200; id += 1) {
    for (const one of [await create(id), await repository.check()])
      expect(one._unsafeUnwrapErr()).toMatchObject({
        kind: 'store-unavailable',
        reason: expect.stringContaining(`correct the password of the role ${role.user}`) as unknown,
      });
  }
  // After 0, 1, 3, 7, … seconds.
  expect(proxy.connections() - before).toBeLessThan(8);
  await setPassword(role.password);
  await expect.poll(async () => (await create(9)).isOk(), { interval: 100 }).toBe(true);
});

it.each([
  ['28000', 'ALTER ROLE ROLE NOLOGIN', 'ALTER ROLE ROLE LOGIN'],
  ['42501', 'REVOKE CONNECT ON DATABASE DB FROM PUBLIC', 'GRANT CONNECT ON DATABASE DB TO PUBLIC'],
  [
    '55000',
    'ALTER DATABASE DB ALLOW_CONNECTIONS false',
    'ALTER DATABASE DB ALLOW_CONNECTIONS true',
  ],
  ['3D000', 'ALTER DATABASE DB RENAME TO DB_', 'ALTER DATABASE DB_ RENAME TO DB'],
])(
  'a login that is refused with %s pauses logins, and its reason names no password',
  async (state, forbid, permit) => {
    const { proxy, role, url, database } = await newGuarded();
    const run = async (statement: string) =>
      runSql(
        sharedUrl('postgres'),
        statement.replaceAll('DB', database).replace('ROLE ROLE', `ROLE ${role.user}`),
      );
    const repository = await open(url);
    const create = async () => repository.create({ id: 1n, name: 'x' });
    proxy.resetAll();
    await expect
      .poll(async () =>
        run(forbid).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const before = proxy.connections();
    let reason = '';
    for (let count = 0; count < 50; count += 1) {
      const created = await create();
      reason = created.isErr() && 'reason' in created.error ? created.error.reason : '';
      expect(reason).toContain(`(${state})`);
      expect(reason).not.toMatch(/password/);
    }
    // After 0, 1, 3, 7, … seconds.
    expect(proxy.connections() - before).toBeLessThan(5);
    expect((await repository.check())._unsafeUnwrapErr().reason).toContain(`(${state})`);
    await run(permit);
    await expect.poll(async () => (await create()).isOk(), { interval: 100 }).toBe(true);
  },
);

it('creates use the other connection while a login is refused', async () => {
  const { direct, url, setPassword, database } = await newGuarded();
  const repository = await open(url);
  const createMany = async (first: number) =>
    Promise.all(
      Array.from({ length: 3_000 }, async (_, n) =>
        repository.create({ id: BigInt(first + n), name: 'x' }),
      ),
    );
  await createMany(0);
  await setPassword('other');
  await runSql(
    direct,
    `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
      WHERE datname = '${database}' AND application_name = 'plantstore' LIMIT 1) AS one`,
  );
  const created = await createMany(10_000);
  expect(created.filter((one) => one.isErr())).toEqual([]);
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
  const refused = await repository.create({ id: 1n, name: 'x' });
  expect(refused._unsafeUnwrapErr()).toMatchObject({
    reason: expect.stringContaining('password authentication failed') as unknown,
  });
  await write('second');
  expect((await repository.create({ id: 1n, name: 'x' })).isOk()).toBe(true);
});

it('a server that refuses the login does not end the wait for another server of the URL', async () => {
  const { proxy, url } = await newGuarded();
  const other = await startProxy();
  const both = url.replace(
    `127.0.0.1:${proxy.port}`,
    `127.0.0.1:${proxy.port},localhost:${other.port}`,
  );
  const repository = await open(both, { connectTimeoutMs: 300 });
  // The first is lost, and the second refuses logins.
  other.onStatement(() => ({ error: '28000', severity: 'FATAL' }));
  proxy.freeze(true);
  proxy.resetAll();
  const creating = repository.create({ id: 1n, name: 'x' });
  await expect.poll(() => other.connections()).toBeGreaterThan(1);
  proxy.freeze(false);
  expect((await creating).isOk()).toBe(true);
});
