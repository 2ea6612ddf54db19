import {
  type PostgresServer,
  startPostgres,
  startStandbyOf,
} from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failToOpen, openAndClose } from '../../test/open.ts';
import { runSql } from '../../test/shared-postgres.ts';
import { readPlants } from './read-plants.ts';

let leader: PostgresServer;
let standby: PostgresServer;
let without: PostgresServer;
beforeAll(async () => {
  [leader, without] = await Promise.all([startPostgres(), startPostgres()]);
  await openAndClose(leader.url());
  await runSql(leader.url(), "INSERT INTO plants VALUES (1, 'copied', NULL)");
  await leader.stop();
  // A copy without replication.
  standby = await startStandbyOf(leader);
  await leader.start();
  await runSql(leader.url(), "INSERT INTO plants VALUES (2, 'newer', NULL)");
});
afterAll(async () => {
  await Promise.all([leader, standby, without].map(async (server) => server.dispose()));
});

const urlOf = (...servers: readonly { readonly port: number }[]) => {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return leader.url().replace(/127\.0\.0\.1:\d+/, hosts);
};

const read = async (url: string) => {
  let table = '';
  const ids: bigint[] = [];
  for await (const one of readPlants({ url, onTable: (text) => (table = text) })) {
    ids.push(one._unsafeUnwrap().id);
  }
  return { ids, table };
};

it('readPlants prefers the leader at any position of the URL', async () => {
  for (const url of [urlOf(standby, leader), urlOf(leader, standby)]) {
    expect(await read(url)).toEqual({ ids: [1n, 2n], table: '"public".plants in postgres' });
  }
});

it('readPlants reads from a hot standby, and names it', async () => {
  for (const url of [urlOf(standby), urlOf({ port: 1 }, standby), urlOf(standby, { port: 1 })]) {
    expect(await read(url)).toEqual({
      ids: [1n],
      table: `"public".plants in postgres (of a standby, which may not have the newest plants)`,
    });
  }
});

it('readPlants reads from a server that is read-only', async () => {
  const url = `${urlOf(leader)}?options=-cdefault_transaction_read_only%3Don`;
  expect(await read(url)).toMatchObject({ ids: [1n, 2n] });
});

it('readPlants takes a server that has the table', async () => {
  const readOnly = '?options=-cdefault_transaction_read_only%3Don';
  expect((await read(`${urlOf(without, standby)}${readOnly}`)).ids).toEqual([1n]);
});

it('a start reports a standby and a read-only server with different messages', async () => {
  const ofStandby = await failToOpen(urlOf(standby));
  expect(ofStandby.message).toMatch(/add the leader to the URL.*is a standby/s);
  const readOnly = await failToOpen(
    `${urlOf(leader)}?options=-cdefault_transaction_read_only%3Don`,
  );
  expect(readOnly.message).toMatch(/default_transaction_read_only.*is read-only/s);
  expect(readOnly.message).not.toMatch(/standby|add the leader/);
});
