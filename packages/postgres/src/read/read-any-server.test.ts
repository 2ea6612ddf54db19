import {
  type PostgresServer,
  startPostgres,
  startStandbyOf,
} from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAndClose, urlOfAll } from '../../test/open.ts';
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

const urlOf = (...servers: readonly { readonly port: number }[]) => urlOfAll(leader, servers);

const read = async (url: string) => {
  let table = '';
  const ids: bigint[] = [];
  for await (const one of readPlants({ url, onTable: (text) => (table = text) })) {
    ids.push(one._unsafeUnwrap().id);
  }
  return { ids, table };
};

const readOnly = '?options=-cdefault_transaction_read_only%3Don';
const noServer = { port: 1 };

it('readPlants reads the leader at any position of the URL, else any server that has the table, and names it', async () => {
  const ofLeader = { ids: [1n, 2n], table: '"public".plants in postgres' };
  const ofStandby = {
    ids: [1n],
    table: `${ofLeader.table} (of a standby, which may not have the newest plants)`,
  };
  expect(await read(urlOf(standby, leader))).toEqual(ofLeader);
  expect(await read(urlOf(leader, standby))).toEqual(ofLeader);
  expect(await read(urlOf(leader) + readOnly)).toEqual(ofLeader);
  expect(await read(urlOf(standby))).toEqual(ofStandby);
  expect(await read(urlOf(noServer, standby, noServer))).toEqual(ofStandby);
  expect(await read(urlOf(without, standby) + readOnly)).toEqual(ofStandby);
});
