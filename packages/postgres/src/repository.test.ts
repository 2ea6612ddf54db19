import { describeRepository } from '@plantstore/core/repository-contract';
import { describe, expect, it } from 'vitest';
import { plantsFrom } from '../test/behind-proxy.ts';
import { failToOpen, noLimits } from '../test/open.ts';
import { type PostgresProxy, startProxy } from '../test/postgres-proxy.ts';
import { emptyDatabase, sharedUrl } from '../test/shared-postgres.ts';
import { openPostgresRepository, type PostgresOptions } from './repository.ts';

const open = async (url: string, options: Partial<PostgresOptions> = {}) =>
  (await openPostgresRepository({ url, ...noLimits, ...options }))._unsafeUnwrap();

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

it('a PostgreSQL repository reports each commit of a batch, the plants that exist, and the number of waiting creates', async () => {
  const commits: number[] = [];
  const url = sharedUrl(await emptyDatabase());
  const repository = await open(url, { onCommit: ({ plants }) => void commits.push(plants) });
  const plants = plantsFrom(1, 3);
  await repository.create(plants[0]!);
  const creating = plants.map(async (plant) => repository.create(plant));
  await new Promise(process.nextTick);
  expect(repository.waiting()).toBe(3);
  const created = (await Promise.all(creating)).map((one) => one._unsafeUnwrap());
  expect(created).toEqual(['unchanged', undefined, undefined]);
  await repository.close();
  expect(repository.waiting()).toBe(0);
  expect(commits).toEqual([1, 3]);
});

it.each<[string, (proxy: PostgresProxy) => void]>([
  ['its connection', (proxy) => proxy.freeze(true)],
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
    await failToOpen(url, { connectTimeoutMs: 500, statementTimeoutMs: 500 });
    proxy.freeze(false);
    expect(proxy.connections()).toBeGreaterThan(0);
    await expect.poll(proxy.openConnections).toBe(0);
  },
);

it('openPostgresRepository keeps no connection to a server that does not respond to a cancel request', async () => {
  const sockets = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  // Sockets of other test files of this process may end later.
  const before = sockets();
  const proxy = await startProxy();
  proxy.onStatement(() => {
    proxy.freeze(true);
    return 'discard';
  });
  const url = proxy.through(sharedUrl('postgres'));
  await failToOpen(url, { connectTimeoutMs: 500, statementTimeoutMs: 100 });
  await expect.poll(proxy.connections).toBe(2);
  await expect.poll(() => sockets() - before).toBeLessThanOrEqual(proxy.openConnections());
});
