import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, it, onTestFinished, vi } from 'vitest';
import { newRole, open, openAndClose } from '../../test/open.ts';
import { startProxy } from '../../test/postgres-proxy.ts';
import { newDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Opens a repository through a proxy, whose role has a password that the test changes. */
const openForRole = async (password?: string) => {
  const database = await newDatabase();
  const direct = sharedUrl(database);
  const role = await newRole(database);
  await openAndClose(direct);
  await runSql(direct, `GRANT SELECT, INSERT ON plants TO ${role.user}`);
  const proxy = await startProxy(inject('postgresPort'));
  onTestFinished(proxy.close);
  const url = sharedUrl(database, { ...role, ...(password !== undefined && { password }) })
    .replace(`:${inject('postgresPort')}/`, `:${proxy.port}/`)
    .concat('?sslmode=disable');
  const setPassword = async (text: string) =>
    runSql(direct, `ALTER ROLE ${role.user} PASSWORD '${text}'`);
  return { proxy, direct, role, url, setPassword, database };
};

it('a refused login pauses all logins: creates fail immediately with its reason, and succeed by themselves afterwards', async () => {
  const { proxy, role, url, setPassword } = await openForRole();
  const repository = await open(url, { deadlineMs: 10_000 });
  expect((await repository.create({ id: 0n, name: 'x' })).isOk()).toBe(true);
  await setPassword('other');
  proxy.resetAll();
  const before = proxy.connections();
  const began = performance.now();
  let creates = 0;
  const client = async (first: bigint) => {
    for (let id = first; performance.now() - began < 4_000; id += 10n) {
      const startedAt = performance.now();
      const created = await repository.create({ id, name: 'x' });
      expect(performance.now() - startedAt).toBeLessThan(1_000);
      creates += 1;
      expect(created._unsafeUnwrapErr()).toMatchObject({
        kind: 'store-unavailable',
        reason: expect.stringContaining(`refuses the role ${role.user} or its password`) as unknown,
      });
      await sleep(5);
    }
  };
  await Promise.all([client(1n), client(2n), client(3n), client(4n)]);
  expect(creates).toBeGreaterThan(100);
  // After 0, 1 and 3 seconds.
  expect(proxy.connections() - before).toBeLessThanOrEqual(3);
  await setPassword(role.password);
  await expect
    .poll(async () => (await repository.create({ id: 9n, name: 'x' })).isOk(), { interval: 100 })
    .toBe(true);
});

it('creates use the other connection while a login is refused', async () => {
  const { direct, url, setPassword, database } = await openForRole();
  const repository = await open(url, { deadlineMs: 10_000 });
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
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const file = join(folder, 'pgpass');
  const write = async (password: string) => {
    await writeFile(`${file}.new`, `*:*:*:*:${password}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  vi.stubEnv('PGPASSFILE', file);
  const { proxy, role, url, setPassword } = await openForRole();
  await setPassword('first');
  await write('first');
  const withoutPassword = url.replace(/:[^:@/]+@/, '@');
  const repository = await open(withoutPassword, { deadlineMs: 10_000 });
  await setPassword('second');
  proxy.resetAll();
  const refused = await repository.create({ id: 1n, name: 'x' });
  expect(refused._unsafeUnwrapErr()).toMatchObject({
    reason: expect.stringContaining(role.user) as unknown,
  });
  await write('second');
  expect((await repository.create({ id: 1n, name: 'x' })).isOk()).toBe(true);
});

it('a server that refuses the login does not end the wait for another server of the URL', async () => {
  const { proxy, direct, url } = await openForRole();
  const other = await startProxy(inject('postgresPort'));
  onTestFinished(other.close);
  const both = url.replace(
    `127.0.0.1:${proxy.port}`,
    `127.0.0.1:${proxy.port},localhost:${other.port}`,
  );
  const repository = await open(both, { deadlineMs: 10_000, connectTimeoutMs: 300 });
  // The first is lost, and the second refuses logins for a while.
  other.onStatement(() => ({ error: '28000', severity: 'FATAL' }));
  proxy.freeze(true);
  proxy.resetAll();
  const creating = repository.create({ id: 1n, name: 'x' });
  await sleep(1_500);
  proxy.freeze(false);
  expect((await creating).isOk()).toBe(true);
  expect(await runSql(direct, 'SELECT count(*)::int FROM plants')).toEqual([{ count: 1 }]);
});
