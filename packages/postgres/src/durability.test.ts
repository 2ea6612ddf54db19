import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { expectStored } from '../test/load.ts';
import { open } from '../test/open.ts';
import { runSql } from '../test/shared-postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  // An asynchronous commit stays in memory for as long as PostgreSQL allows.
  server = await startPostgres('synchronous_commit = off\nwal_writer_delay = 10s');
});
afterAll(async () => server.dispose());

const crash = async () => {
  await server.stop('SIGQUIT');
  await server.start();
};

const countOf = async (id: bigint) => {
  const [row] = await runSql(server.url(), `SELECT count(*)::int FROM plants WHERE id = ${id}`);
  return row?.['count'];
};

const insertAsynchronously = async (id: bigint) =>
  runSql(server.url(), `INSERT INTO plants (id, name, tag) VALUES (${id}, 'Monstera', NULL)`);

describe('server with asynchronous commit', () => {
  it('a crash of a server with asynchronous commit loses a plant that another program inserted, which shows that the test detects lost plants', async () => {
    const repository = await open(server.url());
    expect((await repository.create({ id: 0n, name: 'Monstera' })).isOk()).toBe(true);
    await insertAsynchronously(1n);
    await crash();
    expect(await countOf(1n)).toBe(0);
  });

  it('an acknowledged plant survives a crash of a server with asynchronous commit', async () => {
    const repository = await open(server.url());
    expect((await repository.create({ id: 2n, name: 'Monstera' })).isOk()).toBe(true);
    await crash();
    expect(await countOf(2n)).toBe(1);
  });

  it('an existing plant survives a crash of a server with asynchronous commit once it was acknowledged', async () => {
    const repository = await open(server.url());
    await insertAsynchronously(3n);
    expect((await repository.create({ id: 3n, name: 'Monstera' })).isOk()).toBe(true);
    await crash();
    expect(await countOf(3n)).toBe(1);
  });
});

describe('server that requires a missing standby', () => {
  const setStandbyNames = async (names: string) =>
    runSql(
      server.url(),
      `ALTER SYSTEM SET synchronous_standby_names = '${names}'`,
      'SELECT pg_reload_conf()',
    );
  /** Cancels every wait for a standby until `commit` resolves; the server then reports success with a warning. */
  const cancelWaitsOf = async (commit: Promise<unknown>) => {
    const state = { isDone: false, canceled: 0 };
    const done = (async () => {
      await commit;
      state.isDone = true;
    })();
    const client = await connectSql(server.url());
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    for (; !state.isDone; await sleep(20))
      state.canceled += (await client.query(cancel)).rows.length;
    await client.end();
    await done;
    return state.canceled;
  };
  /** Requires a standby that does not exist, and waits until the reload takes effect. */
  const requireMissingStandby = async () => {
    await setStandbyNames('no_standby');
    let canceled = 0;
    while (canceled === 0) {
      canceled = await cancelWaitsOf(
        runSql(
          server.url(),
          'SET synchronous_commit = on',
          `SELECT pg_logical_emit_message(true, '', '')`,
        ),
      );
    }
  };

  it('no plant is acknowledged before a required standby has it, even if its row is visible', async () => {
    const repository = await open(server.url(), { deadlineMs: 1_000 });
    onTestFinished(async () => {
      await setStandbyNames('');
    });
    await requireMissingStandby();
    const monstera = { id: 4n, name: 'Monstera' };
    const pending = (async () => repository.create(monstera))();
    expect(await cancelWaitsOf(pending)).toBeGreaterThan(0);
    expect((await pending)._unsafeUnwrapErr().kind).toBe('store-unavailable');
    expect(await countOf(4n)).toBe(1);

    expect((await repository.create(monstera))._unsafeUnwrapErr().kind).toBe('store-unavailable');
    await setStandbyNames('');
    await expect.poll(async () => (await repository.create(monstera)).isOk()).toBe(true);
    await expectStored(server.url(), [monstera]);
  });

  it('a canceled wait for a required standby is detected even if client_min_messages hides warnings', async () => {
    const url = `${server.url()}?options=-cclient_min_messages%3Derror`;
    const repository = await open(url, { deadlineMs: 1_000 });
    onTestFinished(async () => {
      await setStandbyNames('');
    });
    await requireMissingStandby();
    for (const _ of ['first', 'again']) {
      const pending = (async () => repository.create({ id: 6n, name: 'Hoya' }))();
      expect(await cancelWaitsOf(pending)).toBeGreaterThan(0);
      expect((await pending).isErr()).toBe(true);
    }
  });

  it('a create of a plant whose id another program is committing waits until a required standby has that plant', async () => {
    const repository = await open(server.url());
    onTestFinished(async () => {
      await setStandbyNames('');
    });
    await requireMissingStandby();
    const waits = async (statement: string) => {
      const rows = await runSql(
        server.url(),
        `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '${statement}%'`,
      );
      return rows.length;
    };
    const inserting = runSql(
      server.url(),
      'SET synchronous_commit = on',
      `INSERT INTO plants (id, name) VALUES (5, 'Hoya')`,
    );
    while ((await waits('INSERT')) < 1) await sleep(20);
    const creating = [
      repository.create({ id: 5n, name: 'Hoya' }),
      repository.create({ id: 5n, name: 'Ficus' }),
    ];
    while ((await waits('SELECT')) < 1) await sleep(20);
    await setStandbyNames('');
    await inserting;
    const [same, other] = await Promise.all(creating);
    expect(same?.isOk()).toBe(true);
    expect(other?._unsafeUnwrapErr()).toEqual({ kind: 'id-taken', id: 5n });
  });
});
