import {
  type PostgresServer,
  startPostgres,
  startStandbyOf,
} from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failToOpen, open, urlOfAll } from '../test/open.ts';
import { startProxy } from '../test/postgres-proxy.ts';
import { connectionsOf, runSql } from '../test/shared-postgres.ts';
import { columnNames, declarationOf } from './open/columns.ts';

let leader: PostgresServer;
let standby: PostgresServer;
beforeAll(async () => {
  leader = await startPostgres();
  await runSql(leader.url(), 'CREATE TABLE only_here (x int)');
  await leader.stop();
  standby = await startStandbyOf(leader);
  await leader.start();
});
afterAll(async () => {
  await leader.dispose();
  await standby.dispose();
});

const urlOf = (...servers: readonly { readonly port: number }[]) => urlOfAll(leader, servers);

it('a URL that names only a standby is refused', async () => {
  expect(await failToOpen(urlOf(standby))).toMatchObject({
    kind: 'standby-only',
    message: expect.stringMatching(
      `add the leader to the URL.*127.0.0.1:${standby.port}: standby-only`,
    ) as unknown,
  });
});

it('a read-only server is refused like a standby', async () => {
  const url = `${urlOf(leader)}?options=-cdefault_transaction_read_only%3Don`;
  const { kind, message } = await failToOpen(url);
  expect(kind).toBe('standby-only');
  expect(message).toMatch(/default_transaction_read_only.*: read-only/);
  expect(message).not.toMatch(/add the leader/);
});

it('the leader is found at any position in the URL, and a new leader after a failover', async () => {
  const repository = await open(urlOf(standby, leader));
  expect((await repository.create({ id: 1n, name: 'Monstera' })).isOk()).toBe(true);
  expect(await runSql(leader.url(), 'SELECT id FROM plants')).toEqual([{ id: '1' }]);
  await expect.poll(async () => connectionsOf(standby.url())).toBe(0);

  await leader.stop();
  const pending = repository.create({ id: 2n, name: 'Ficus' });
  await runSql(
    standby.url(),
    'SELECT pg_promote()',
    // This standby is a copy without replication, so the table does not exist yet.
    `CREATE TABLE plants (${columnNames.map(declarationOf).join(', ')})`,
  );
  // Stored or unavailable, depending on whether the table existed when it connected to the new leader.
  await pending;
  expect((await repository.create({ id: 2n, name: 'Ficus' })).isOk()).toBe(true);
  expect(await runSql(standby.url(), 'SELECT id FROM plants')).toEqual([{ id: '2' }]);
});

it('the check of a repository continues on another server when its own becomes read-only', async () => {
  await leader.start();
  const repository = await open(urlOf(leader, standby));
  expect((await repository.check()).isOk()).toBe(true);
  const setReadOnly = 'ALTER SYSTEM SET default_transaction_read_only = on';
  await runSql(leader.url(), setReadOnly, 'SELECT pg_reload_conf()');
  let checked = await repository.check();
  while (checked.isOk()) checked = await repository.check();
  expect(checked.error.kind).toBe('store-unavailable');
  expect((await repository.check()).isOk()).toBe(true);
});

it('the connection to a leader that was found after the deadline is used for later creates', async () => {
  // The former standby is the leader now.
  const silent = await startProxy(standby.port);
  const proxy = await startProxy(standby.port);
  silent.freeze(true);
  const url = urlOf(silent, proxy);
  const repository = await open(url, { deadlineMs: 500, connectTimeoutMs: 600 });
  const plant = { id: 3n, name: 'Hoya' };
  const isCreated = async () => (await repository.create(plant)).isOk();
  await expect.poll(isCreated).toBe(true);
  proxy.resetAll();
  // Each create waits for the silent server first, for longer than its deadline.
  await expect.poll(isCreated).toBe(true);
});
