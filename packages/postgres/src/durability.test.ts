import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { open } from '../test/open.ts';
import { runSql } from '../test/shared-postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  // An asynchronous commit stays in memory for as long as PostgreSQL allows.
  server = await startPostgres('synchronous_commit = off\nwal_writer_delay = 10s');
});
afterAll(async () => server.dispose());

const idsIn = async (...ids: readonly number[]) => {
  const rows = await runSql(server.url(), `SELECT id::int FROM plants WHERE id IN (${ids.join()})`);
  return rows.map(({ id }) => id);
};

const insertAsynchronously = async (id: number) =>
  runSql(server.url(), `INSERT INTO plants (id, name, tag) VALUES (${id}, 'Monstera', NULL)`);

it('acknowledged plants, new and existing, survive a crash of a server with asynchronous commit, which loses others', async () => {
  const repository = await open(server.url());
  const crash = async () => {
    await server.stop('SIGQUIT');
    await server.start();
  };
  expect((await repository.create({ id: 1n, name: 'Monstera' })).isOk()).toBe(true);
  await insertAsynchronously(2);
  await crash();
  expect(await idsIn(1, 2)).toEqual([1]);
  await insertAsynchronously(2);
  expect((await repository.create({ id: 2n, name: 'Monstera' })).isOk()).toBe(true);
  await crash();
  expect(await idsIn(1, 2)).toEqual([1, 2]);
});

const setStandbyNames = async (names: string) =>
  runSql(
    server.url(),
    `ALTER SYSTEM SET synchronous_standby_names = '${names}'`,
    'SELECT pg_reload_conf()',
  );

/** Cancels every wait for a standby until `commit` resolves; the server then reports success with a warning. */
const cancelWaitsOf = async (commit: Promise<unknown>) => {
  const state = { isDone: false, canceled: 0 };
  const done = commit.then(() => (state.isDone = true));
  const client = await connectSql(server.url());
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  for (; !state.isDone; await sleep(20)) state.canceled += (await client.query(cancel)).rows.length;
  await client.end();
  await done;
  return state.canceled;
};

/** Requires a standby that does not exist until the end of the test. Waits until the reload takes effect. */
const requireMissingStandby = async () => {
  onTestFinished(async () => {
    await setStandbyNames('');
  });
  await setStandbyNames('no_standby');
  const commit = `SELECT pg_logical_emit_message(true, '', '')`;
  for (let canceled = 0; canceled === 0;)
    canceled = await cancelWaitsOf(runSql(server.url(), 'SET synchronous_commit = on', commit));
};

it('no plant is acknowledged before a required standby has it, even if its row is visible, and messages are hidden', async () => {
  const url = `${server.url()}?options=-cclient_min_messages%3Derror`;
  const repository = await open(url, { deadlineMs: 1_000 });
  await requireMissingStandby();
  const monstera = { id: 4n, name: 'Monstera' };
  for (const _ of ['first', 'again']) {
    const pending = (async () => repository.create(monstera))();
    expect(await cancelWaitsOf(pending)).toBeGreaterThan(0);
    expect((await pending)._unsafeUnwrapErr().kind).toBe('store-unavailable');
    expect(await idsIn(4)).toEqual([4]);
  }
  await setStandbyNames('');
  await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
});

it('a create of a plant whose id another program is committing waits until a required standby has that plant', async () => {
  const repository = await open(server.url());
  await requireMissingStandby();
  const untilWaiting = async (statement: string) => {
    const waiting = `SELECT FROM pg_stat_activity
      WHERE wait_event = 'SyncRep' AND query LIKE '${statement}%'`;
    while ((await runSql(server.url(), waiting)).length < 1) await sleep(20);
  };
  const insert = `INSERT INTO plants (id, name) VALUES (5, 'Hoya')`;
  const inserting = runSql(server.url(), 'SET synchronous_commit = on', insert);
  await untilWaiting('INSERT');
  const creating = ['Hoya', 'Ficus'].map(async (name) => repository.create({ id: 5n, name }));
  await untilWaiting('SELECT');
  await setStandbyNames('');
  await inserting;
  const [same, other] = await Promise.all(creating);
  expect(same?.isOk()).toBe(true);
  expect(other?._unsafeUnwrapErr()).toEqual({ kind: 'id-taken', id: 5n });
});
