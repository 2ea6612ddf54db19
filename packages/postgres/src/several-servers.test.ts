import {
  type PostgresServer,
  startPostgres,
  startStandbyOf,
} from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { failToOpen, open, openAndClose, urlOfAll } from '../test/open.ts';
import { startProxy } from '../test/postgres-proxy.ts';
import { connectionsOf, runSql } from '../test/shared-postgres.ts';
import { readPlants } from './read/read-plants.ts';

let leader: PostgresServer;
/** A copy of the leader without replication. */
let standby: PostgresServer;
beforeAll(async () => {
  leader = await startPostgres();
  await openAndClose(leader.url());
  await runSql(leader.url(), "INSERT INTO plants VALUES (-2, 'copied')");
  await leader.stop();
  standby = await startStandbyOf(leader);
  await leader.start();
  await runSql(leader.url(), "INSERT INTO plants VALUES (-1, 'newer')");
});
afterAll(async () => {
  await leader.dispose();
  await standby.dispose();
});

const urlOf = (...servers: readonly { readonly port: number }[]) => urlOfAll(leader, servers);
const readOnly = '?options=-cdefault_transaction_read_only%3Don';
const monstera = { id: 1n, name: 'Monstera' };

it('a URL without a server that accepts writes is refused, and names the servers', async () => {
  for (const url of [urlOf(standby), urlOf(leader) + readOnly])
    expect(await failToOpen(url)).toMatchObject({
      kind: 'standby-only',
      message: expect.stringMatching(
        /add the leader to the URL.*default_transaction_read_only.*127\.0\.0\.1:\d/,
      ) as unknown,
    });
});

it('readPlants reads the leader at any position of the URL, else any server that has the table, and names it', async () => {
  const read = async (url: string) => {
    let table = '';
    const ids: bigint[] = [];
    for await (const one of readPlants({ url, onTable: (text) => (table = text) }))
      ids.push(one._unsafeUnwrap().id);
    return { ids, table };
  };
  const [noServer, without] = [{ port: 1 }, { port: inject('postgresPort') }];
  const ofLeader = { ids: [-2n, -1n], table: '"public".plants in postgres' };
  const ofStandby = {
    ids: [-2n],
    table: `${ofLeader.table} (of a standby, which may not have the newest plants)`,
  };
  for (const url of [urlOf(standby, leader), urlOf(leader, standby), urlOf(leader) + readOnly])
    expect(await read(url)).toEqual(ofLeader);
  for (const url of [urlOf(noServer, standby, noServer), urlOf(without, standby) + readOnly])
    expect(await read(url)).toEqual(ofStandby);
});

it('the leader is found at any position in the URL, and a new leader after a failover', async () => {
  const repository = await open(urlOf(standby, leader));
  expect((await repository.create(monstera)).isOk()).toBe(true);
  await expect.poll(async () => connectionsOf(standby.url())).toBe(0);
  await leader.stop();
  const pending = repository.create(monstera);
  await runSql(standby.url(), 'SELECT pg_promote()');
  expect((await pending).isOk()).toBe(true);
  expect(await runSql(standby.url(), 'SELECT id FROM plants WHERE id > 0')).toEqual([{ id: '1' }]);
  await leader.start();
});

it('the check of a repository continues on another server when its own becomes read-only', async () => {
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
  const [silent, proxy] = [await startProxy(standby.port), await startProxy(standby.port)];
  silent.freeze(true);
  const options = { deadlineMs: 500, connectTimeoutMs: 600 };
  const repository = await open(urlOf(silent, proxy), options);
  const isCreated = async () => (await repository.create(monstera)).isOk();
  await expect.poll(isCreated).toBe(true);
  proxy.resetAll();
  // Each create waits for the silent server first, for longer than its deadline.
  await expect.poll(isCreated).toBe(true);
});
