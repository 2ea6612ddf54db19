import { setTimeout as sleep } from 'node:timers/promises';
import { connectSql } from '@plantstore/test-support/sql-client';
import { expect, inject, it, onTestFinished } from 'vitest';
import {
  handleNext,
  insertsOf,
  monstera,
  openBehindProxy,
  expectStored,
} from '../test/behind-proxy.ts';
import { open } from '../test/open.ts';
import { startProxy, type StatementAction } from '../test/postgres-proxy.ts';
import {
  connectionsOf,
  emptyDatabase,
  newDatabase,
  runSql,
  sharedUrl,
} from '../test/shared-postgres.ts';
import type { PostgresRepository } from './repository.ts';

/** Closes a repository, and returns whether it closes long before the timeout of a test. */
const isClosedSoon = async (repository: PostgresRepository): Promise<boolean> =>
  Promise.race([repository.close().then(() => true), sleep(10_000, false, { ref: false })]);

const unavailable = (reason: string | RegExp) => ({
  kind: 'store-unavailable',
  reason: expect.stringMatching(reason) as unknown,
});

const retried: readonly (readonly [string, StatementAction, 'same' | 'another'])[] = [
  ['a serialization failure', { error: '40001' }, 'same'],
  ['a deadlock', { error: '40P01' }, 'same'],
  ['an unknown completion of a statement that did not run', { error: '40003' }, 'same'],
  ['an unknown completion of a statement that ran', { errorAfter: '40003' }, 'same'],
  ['a statement timeout on the server', { error: '57014' }, 'same'],
  ['a lock that is released', { error: '55P03' }, 'same'],
  ['a full disk on the server', { error: '53100' }, 'same'],
  ['a leader that became a standby', { error: '25006' }, 'another'],
  ['a connection failure', { error: '08006' }, 'another'],
  ['a transaction timeout on the server', { error: '25P04', severity: 'FATAL' }, 'another'],
  ['a shutdown', { error: '57P01', severity: 'FATAL' }, 'another'],
  ['a crash', { error: '57P02', severity: 'FATAL' }, 'another'],
  ['a server that is starting up', { error: '57P03', severity: 'FATAL' }, 'another'],
  ['a reset before the statement', 'reset-before', 'another'],
  ['a reset after the statement', 'reset-after', 'another'],
];

it('a create is repeated after each failure that can be retried, on the same or another connection', async () => {
  const { proxy, repository, direct } = await openBehindProxy();
  const plants = retried.map(([name], index) => ({ id: BigInt(index), name }));
  for (const [index, [failure, action, connection]] of retried.entries()) {
    const plant = plants[index]!;
    const before = proxy.connections();
    handleNext(proxy, /^INSERT/, action);
    expect([failure, (await repository.create(plant)).isOk()]).toEqual([failure, true]);
    expect([failure, proxy.connections() > before]).toEqual([failure, connection === 'another']);
    handleNext(proxy, /^SELECT id/, action);
    const refused = await repository.create({ ...plant, name: 'Monstera' });
    const error = refused.isErr() && refused.error;
    expect([failure, error]).toEqual([failure, { kind: 'id-taken', id: plant.id }]);
  }
  await expectStored(direct, plants);
});

it('a create is retried on another connection when its statement has no response', async () => {
  const { proxy, repository } = await openBehindProxy({ statementTimeoutMs: 200 });
  handleNext(proxy, /^INSERT/, 'discard');
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

it('a create pauses between its attempts, and is store-unavailable at its deadline, with the reason', async () => {
  const { proxy, repository, direct } = await openBehindProxy({ deadlineMs: 1_000 });
  proxy.onStatement(({ text }) => (text.startsWith('INSERT') ? 'reset-after' : 'pass'));
  const refused = (await repository.create(monstera))._unsafeUnwrapErr();
  expect(refused).toMatchObject(unavailable(/ECONNRESET|terminated/));
  // The pauses double from 12 to 25 ms; without them, there are hundreds of attempts.
  expect(insertsOf(proxy).length).toBeLessThan(20);
  await expectStored(direct, [monstera]);
  proxy.onStatement(() => 'pass');
  await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
});

it('a statement without a response ends at the deadline of its create, also with a longer timeout', async () => {
  const { proxy, repository } = await openBehindProxy({
    deadlineMs: 500,
    statementTimeoutMs: 60_000,
  });
  handleNext(proxy, /^INSERT/, 'discard');
  expect((await repository.create(monstera)).isErr()).toBe(true);
  expect(await isClosedSoon(repository)).toBe(true);
});

it('a repository closes while its server does not respond, and keeps no connection', async () => {
  const { proxy, repository } = await openBehindProxy();
  expect((await repository.create(monstera)).isOk()).toBe(true);
  proxy.freeze(true);
  expect(await isClosedSoon(repository)).toBe(true);
  const sockets = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  await expect.poll(sockets).toBe(proxy.openConnections());
});

it('a repository that is closed while a check connects waits for the check, and keeps no connection', async () => {
  const { proxy, repository } = await openBehindProxy();
  proxy.refuse(true);
  proxy.resetAll();
  expect((await repository.check()).isErr()).toBe(true);
  proxy.refuse(false);
  const checking = repository.check();
  await repository.close();
  expect((await checking).isOk()).toBe(true);
  await expect.poll(proxy.openConnections).toBe(0);
});

it('a create is retried on another server of the URL before the one that failed', async () => {
  const { proxy, url } = await openBehindProxy();
  const other = await startProxy();
  const hosts = `127.0.0.1:${proxy.port},127.0.0.1:${other.port}`;
  const repository = await open(url.replace(`127.0.0.1:${proxy.port}`, hosts));
  proxy.onStatement(({ text }) => (text.startsWith('INSERT') ? 'reset-before' : 'pass'));
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

it('a create can have no deadline and no connect timeout', async () => {
  const [deadlineMs, connectTimeoutMs] = [Infinity, Infinity];
  const { repository } = await openBehindProxy({ deadlineMs, connectTimeoutMs });
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

it('a create is store-unavailable immediately when its table is missing, and succeeds when it exists again', async () => {
  const { proxy, repository, direct } = await openBehindProxy();
  await runSql(direct, 'ALTER TABLE plants RENAME TO renamed');
  const refused = (await repository.create(monstera))._unsafeUnwrapErr();
  expect(refused).toMatchObject(unavailable(/relation "public.plants" does not exist \(42P01\)/));
  // Prepared, and not prepared.
  expect(insertsOf(proxy).length).toBe(2);
  await runSql(direct, 'ALTER TABLE renamed RENAME TO plants');
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

it.each(['quote_all_identifiers = on', 'default_transaction_isolation = serializable'])(
  'plants are stored unchanged in a database with %s',
  async (setting) => {
    const database = await newDatabase();
    await runSql(sharedUrl(database), `ALTER DATABASE ${database} SET ${setting}`);
    const repository = await open(sharedUrl(database));
    const plants = [monstera, { id: 9n, name: '', tag: '' }];
    for (const plant of [...plants, ...plants])
      expect((await repository.create(plant)).isOk()).toBe(true);
    await expectStored(sharedUrl(database), plants);
  },
);

it('a create is stored by a server that needs longer than the statement timeout', async () => {
  const { repository, direct } = await openBehindProxy({ statementTimeoutMs: 300 });
  await runSql(
    direct,
    `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_sleep(1); RETURN NULL; END $$`,
    'CREATE TRIGGER be_slow AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION be_slow()',
  );
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

it.each(['TCP', 'a Unix-domain socket'])(
  'a create that waits for the table leaves at most three connections on the server after its deadline: %s',
  async (over) => {
    const direct = sharedUrl(await emptyDatabase());
    const socket = encodeURIComponent(inject('postgresFolder'));
    const url = over === 'TCP' ? direct : direct.replace('@127.0.0.1:', `@${socket}:`);
    const repository = await open(url, { statementTimeoutMs: 200, deadlineMs: 1_200 });
    const holder = await connectSql(direct);
    onTestFinished(async () => holder.end());
    await holder.query('BEGIN; LOCK TABLE plants');
    expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
    await expect.poll(async () => connectionsOf(direct)).toBeLessThanOrEqual(3);
    await holder.query('ROLLBACK');
    await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
  },
);
