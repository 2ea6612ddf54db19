import { describeRepository } from '@plantstore/core/repository-contract';
import { describe, expect, it } from 'vitest';
import { noLimits } from '../test/open.ts';
import { type PostgresProxy, startProxy } from '../test/postgres-proxy.ts';
import { connectionsOf, emptyDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import { openPostgresRepository } from './repository.ts';

const open = async (url: string) =>
  (await openPostgresRepository({ url, ...noLimits }))._unsafeUnwrap();

describeRepository({ describe, it, expect }, 'the PostgreSQL repository', async () => {
  const url = sharedUrl(await emptyDatabase());
  let repository = await open(url);
  const second = await open(url);
  return {
    repository,
    second,
    reopen: async () => {
      await repository.close();
      repository = await open(url);
      return repository;
    },
    dispose: async () => {
      await repository.close();
      await second.close();
    },
  };
});

it('a PostgreSQL repository reports each commit of a batch, and the number of waiting creates', async () => {
  const commits: number[] = [];
  const opened = await openPostgresRepository({
    ...noLimits,
    url: sharedUrl(await emptyDatabase()),
    onCommit: ({ plants }) => void commits.push(plants),
  });
  const repository = opened._unsafeUnwrap();
  const creating = [1n, 2n, 3n].map(async (id) => repository.create({ id, name: 'Monstera' }));
  await new Promise(process.nextTick);
  expect(repository.waiting()).toBe(3);
  await Promise.all(creating);
  await repository.close();
  expect(repository.waiting()).toBe(0);
  expect(commits).toEqual([3]);
});

it('a PostgreSQL repository creates concurrent plants in call order, also after a conflict', async () => {
  const repository = await open(sharedUrl(await emptyDatabase()));
  const names = ['Monstera', 'Monstera', 'Ficus'];
  const results = await Promise.all(names.map(async (name) => repository.create({ id: 7n, name })));
  expect(results.map((result) => result.isOk())).toEqual([true, true, false]);
  await repository.close();
});

it.each<[string, (proxy: PostgresProxy) => void]>([
  ['its connection', (proxy) => proxy.freeze(true)],
  ['its first statement', (proxy) => proxy.onStatement(() => 'discard')],
  [
    'the statements about its table',
    (proxy) => proxy.onStatement(({ text }) => (/\bplants\b/.test(text) ? 'discard' : 'pass')),
  ],
])(
  'openPostgresRepository keeps no connection to a server that does not respond to %s',
  async (_, stall) => {
    const proxy = await startProxy();
    const url = `${proxy.through(sharedUrl(await emptyDatabase()))}?sslmode=disable`;
    stall(proxy);
    const limits = { deadlineMs: Infinity, connectTimeoutMs: 1_000, statementTimeoutMs: 1_000 };
    expect((await openPostgresRepository({ url, ...limits })).isErr()).toBe(true);
    proxy.freeze(false);
    expect(proxy.connections()).toBeGreaterThan(0);
    await expect.poll(proxy.openConnections).toBe(0);
  },
);

it('openPostgresRepository keeps no connection to a server whose table it refuses', async () => {
  const url = sharedUrl(await emptyDatabase());
  await runSql(url, 'CREATE TABLE plants (id int)');
  const opened = await openPostgresRepository({ url, ...noLimits });
  expect(opened._unsafeUnwrapErr().kind).toBe('table-foreign');
  await expect.poll(async () => connectionsOf(url)).toBe(0);
});

it('openPostgresRepository keeps no connection to a server that does not respond to a cancel request', async () => {
  const proxy = await startProxy();
  proxy.onStatement(() => {
    proxy.freeze(true);
    return 'discard';
  });
  const url = proxy.through(sharedUrl('postgres'));
  const limits = { ...noLimits, connectTimeoutMs: 1_000, statementTimeoutMs: 100 };
  expect((await openPostgresRepository({ url, ...limits })).isErr()).toBe(true);
  await expect.poll(proxy.connections).toBe(2);
  const sockets = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  await expect.poll(sockets).toBe(proxy.openConnections());
});
