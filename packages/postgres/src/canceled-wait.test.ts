import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { open } from '../test/open.ts';
import { runSql } from '../test/shared-postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.dispose());

const cancelWaits = async () =>
  runSql(
    server.url(),
    `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
  );

/** Cancels waits for a standby until the returned function is called. */
const startCanceling = () => {
  const state = { isStopped: false };
  const cancel = async () => {
    for (; !state.isStopped; await sleep(20)) await cancelWaits();
  };
  const canceling = cancel();
  return async () => {
    state.isStopped = true;
    await canceling;
  };
};

/** Resolves once a commit waits for a standby: a reload takes effect after a delay. */
const waitUntilEffective = async () => {
  const state = { isWaiting: false };
  const probe = async () => {
    while (!state.isWaiting)
      await runSql(server.url(), 'CREATE TABLE probe ()', 'DROP TABLE probe');
  };
  const probing = probe();
  while (!state.isWaiting) state.isWaiting = (await cancelWaits()).length > 0;
  const stopCanceling = startCanceling();
  await probing;
  await stopCanceling();
};

it('a canceled wait for a standby is detected even if client_min_messages hides warnings', async () => {
  const url = `${server.url()}?options=-cclient_min_messages%3Derror`;
  const repository = await open(url, { deadlineMs: 1_500 });
  await runSql(
    server.url(),
    `ALTER SYSTEM SET synchronous_standby_names = 'no_standby'`,
    'SELECT pg_reload_conf()',
  );
  await waitUntilEffective();
  onTestFinished(startCanceling());
  expect((await repository.create({ id: 1n, name: 'x' })).isErr()).toBe(true);
  expect((await repository.create({ id: 1n, name: 'x' })).isErr()).toBe(true);
});
