import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { connectSql } from '@plantstore/test-support/sql-client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { handleNext, insertsIn, monstera, openBehindProxy } from '../test/behind-proxy.ts';
import { noResponseWithin, open } from '../test/open.ts';
import { expectStored } from '../test/load.ts';
import { startProxy, type StatementAction } from '../test/postgres-proxy.ts';
import {
  connectionsOf,
  emptyDatabase,
  newDatabase,
  runSql,
  sharedUrl,
} from '../test/shared-postgres.ts';
import { lanesInFlight, type PostgresRepository } from './repository.ts';

/** Returns statements that make each insert of a plant take longer. */
const slowInserts = (seconds: number): readonly string[] => [
  `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(${seconds}); RETURN NULL; END $$`,
  'CREATE TRIGGER be_slow AFTER INSERT ON plants FOR EACH ROW EXECUTE FUNCTION be_slow()',
];

/** Closes a repository, and returns whether it closes long before the timeout of a test. */
const isClosedSoon = async (repository: PostgresRepository): Promise<boolean> =>
  Promise.race([repository.close().then(() => true), sleep(10_000, false, { ref: false })]);

describe('create with a failing statement', () => {
  const retried: readonly (readonly [string, StatementAction])[] = [
    ['a serialization failure', { error: '40001' }],
    ['a deadlock', { error: '40P01' }],
    ['an unknown completion of a statement that did not run', { error: '40003' }],
    ['an unknown completion of a statement that ran', { errorAfter: '40003' }],
    ['a statement timeout on the server', { error: '57014' }],
    ['a lock that is released', { error: '55P03' }],
    ['a full disk on the server', { error: '53100' }],
    ['a leader that became a standby', { error: '25006' }],
    ['a transaction timeout on the server', { error: '25P04', severity: 'FATAL' }],
    ['a shutdown', { error: '57P01', severity: 'FATAL' }],
    ['a crash', { error: '57P02', severity: 'FATAL' }],
    ['a server that is starting up', { error: '57P03', severity: 'FATAL' }],
    ['a connection failure', { error: '08006', severity: 'FATAL' }],
    ['a reset before the statement', 'reset-before'],
    ['a reset after the statement', 'reset-after'],
  ];

  it('a create is stored after each failure that can be retried, as often as it occurs', async () => {
    const { proxy, repository, direct } = await openBehindProxy();
    const plants = retried.map(([name], index) => ({ id: BigInt(index), name }));
    for (const [index, plant] of plants.entries()) {
      const [failure, action] = retried[index]!;
      handleNext(proxy, /^INSERT/, action, action);
      expect([failure, (await repository.create(plant)).isOk()]).toEqual([failure, true]);
      handleNext(proxy, /^SELECT id/, action, action);
      const refused = await repository.create({ ...plant, name: 'Monstera' });
      const error = refused.isErr() && refused.error;
      expect([failure, error]).toEqual([failure, { kind: 'id-taken', id: plant.id }]);
    }
    await expectStored(direct, plants);
  });

  it('a create keeps its connection after an error that only requires a retry', async () => {
    const { proxy, repository } = await openBehindProxy();
    const before = proxy.connections();
    handleNext(proxy, /^INSERT/, { error: '40001' }, { error: '40P01' }, { error: '40003' });
    expect((await repository.create(monstera)).isOk()).toBe(true);
    expect(proxy.connections()).toBe(before);
  });

  it.each<StatementAction>(['discard', 'reset-before', { error: '25006' }, { error: '08006' }])(
    'a create is retried on another connection after %j',
    async (action) => {
      const { proxy, repository } = await openBehindProxy({ statementTimeoutMs: 200 });
      const before = proxy.connections();
      handleNext(proxy, /^INSERT/, action);
      expect((await repository.create(monstera)).isOk()).toBe(true);
      expect(proxy.connections()).toBeGreaterThan(before);
    },
  );

  it('a create is store-unavailable at its deadline, with the reason, and succeeds when it is retried', async () => {
    const { proxy, repository, direct } = await openBehindProxy({ deadlineMs: 500 });
    proxy.onStatement(({ text }) => (text.startsWith('INSERT') ? 'reset-after' : 'pass'));
    const refused = (await repository.create(monstera))._unsafeUnwrapErr();
    expect(refused).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringMatching(/ECONNRESET|terminated/) as unknown,
    });
    await expectStored(direct, [monstera]);
    proxy.onStatement(() => 'pass');
    await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
  });

  it('a create is store-unavailable at its deadline when the server is frozen', async () => {
    const options = { deadlineMs: 1_500, statementTimeoutMs: 300, connectTimeoutMs: 5_000 };
    const { proxy, repository } = await openBehindProxy(options);
    proxy.freeze(true);
    expect((await repository.create(monstera))._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringContaining(noResponseWithin(300)) as unknown,
    });
    proxy.freeze(false);
    await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
  });

  it('a statement without a response ends at the deadline of its create, also with a longer timeout', async () => {
    const options = { deadlineMs: 500, statementTimeoutMs: 60_000 };
    const { proxy, repository } = await openBehindProxy(options);
    handleNext(proxy, /^INSERT/, 'discard');
    expect((await repository.create(monstera)).isErr()).toBe(true);
    expect(await isClosedSoon(repository)).toBe(true);
  });

  it('a repository that is closed while its server is frozen keeps no connection', async () => {
    const { proxy, repository } = await openBehindProxy();
    proxy.freeze(true);
    await repository.close();
    const sockets = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    await expect.poll(sockets).toBe(proxy.openConnections());
  });

  it('the reason of a create that is too slow names no failure before the last success', async () => {
    const options = { deadlineMs: 1_900, statementTimeoutMs: 1_800 };
    const { proxy, repository, direct } = await openBehindProxy(options);
    handleNext(proxy, /^INSERT/, { error: '40001' });
    expect((await repository.create(monstera)).isOk()).toBe(true);
    await runSql(direct, ...slowInserts(1));
    let id = 100n;
    const create = async () => repository.create({ id: (id += 1n), name: 'Ficus' });
    // Each connection inserts one of them; the last create waits.
    const createMany = async () => {
      const creating: ReturnType<typeof create>[] = [];
      for (let lane = 0; lane < lanesInFlight; lane += 1) {
        creating.push(create());
        await nextTurn();
        await nextTurn();
      }
      return Promise.all([...creating, create()]);
    };
    let created = await createMany();
    // On a busy machine, the others can be too slow, too.
    while (created.slice(0, -1).some((one) => one.isErr())) created = await createMany();
    expect(created.at(-1)?._unsafeUnwrapErr()).toMatchObject({
      reason: expect.not.stringContaining('40001') as unknown,
    });
  });

  it('a repository closes after the deadline of its creates while every statement fails', async () => {
    const { proxy, repository } = await openBehindProxy({ deadlineMs: 500 });
    proxy.onStatement(() => 'reset-before');
    expect((await repository.create(monstera)).isErr()).toBe(true);
    const closed = await isClosedSoon(repository);
    proxy.onStatement(() => 'pass');
    expect(closed).toBe(true);
  });

  it('a repository closes while its server does not respond', async () => {
    const { proxy, repository } = await openBehindProxy();
    expect((await repository.create(monstera)).isOk()).toBe(true);
    proxy.freeze(true);
    const closed = await isClosedSoon(repository);
    proxy.freeze(false);
    expect(closed).toBe(true);
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
    expect((await repository.create(monstera))._unsafeUnwrapErr()).toMatchObject({
      kind: 'store-unavailable',
      reason: expect.stringMatching(/relation "public.plants" does not exist \(42P01\)/) as unknown,
    });
    // Prepared, and not prepared.
    expect(insertsIn(proxy)).toBe(2);
    await runSql(direct, 'ALTER TABLE renamed RENAME TO plants');
    expect((await repository.create(monstera)).isOk()).toBe(true);
  });
});

it.each([
  'array_nulls = off',
  'quote_all_identifiers = on',
  'default_transaction_isolation = serializable',
])('plants are stored unchanged in a database with %s', async (setting) => {
  const database = await newDatabase();
  await runSql(sharedUrl(database), `ALTER DATABASE ${database} SET ${setting}`);
  const repository = await open(sharedUrl(database));
  const plants = [
    { id: 7n, name: 'NULL' },
    { id: 8n, name: 'Monstera', tag: 'NULL' },
    { id: 9n, name: '', tag: '' },
  ];
  for (const _ of ['first', 'again']) {
    for (const plant of plants) expect((await repository.create(plant)).isOk()).toBe(true);
  }
  await expectStored(sharedUrl(database), plants);
});

it('a create is stored by a server that needs longer than the statement timeout', async () => {
  const { repository, direct } = await openBehindProxy({ statementTimeoutMs: 300 });
  await runSql(direct, ...slowInserts(1));
  expect((await repository.create(monstera)).isOk()).toBe(true);
});

describe('create that waits for the table', () => {
  it.each(['TCP', 'a Unix-domain socket'])(
    'a create that waits for the table leaves at most three connections on the server after its deadline: %s',
    async (over) => {
      const direct = sharedUrl(await emptyDatabase());
      const socket = encodeURIComponent(inject('postgresFolder'));
      const url = over === 'TCP' ? direct : direct.replace('@127.0.0.1:', `@${socket}:`);
      const repository = await open(url, { statementTimeoutMs: 300, deadlineMs: 1_500 });
      const holder = await connectSql(direct);
      onTestFinished(async () => holder.end());
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE plants');
      expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
      await expect.poll(async () => connectionsOf(direct)).toBeLessThanOrEqual(3);
      await holder.query('ROLLBACK');
      await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
    },
  );
});
