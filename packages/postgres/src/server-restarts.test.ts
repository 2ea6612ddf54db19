import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { runsAll } from '@plantstore/test-support/sample';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { expectStored, type Load, startLoad } from '../test/load.ts';
import { open } from '../test/open.ts';
import { endSessions, runSql } from '../test/shared-postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.dispose());

const openTwo = async () => {
  const options = { statementTimeoutMs: 500 };
  return Promise.all([open(server.url(), options), open(server.url(), options)]);
};

/** Causes a fault repeatedly while two repositories create plants. */
const underLoad = async (all: number, fault: (load: Load) => Promise<unknown>) => {
  const cycles = runsAll ? all : 1;
  const load = startLoad(await openTwo());
  onTestFinished(load.stop);
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await load.progress(300);
    await fault(load);
  }
  await load.progress(300);
  await load.stop();
  await expectStored(server.url(), load.acknowledged);
  const { acknowledged, unavailable } = load;
  const name = expect.getState().currentTestName?.split(' > ').at(-1);
  console.log(
    `${name}: ${cycles} cycles, ${acknowledged.length} acknowledged, 0 missing, ${unavailable.length} unavailable`,
  );
  return load;
};

describe('under load from two repositories', () => {
  it('no acknowledged plant is missing and both repositories recover after the server was stopped and started', async () => {
    const load = await underLoad(4, async () => {
      await server.stop();
      await server.start();
    });
    expect(load.unavailable).toEqual([]);
  });

  it('no acknowledged plant is missing and both repositories recover after the server crashed and recovered', async () => {
    const load = await underLoad(4, async () => {
      await server.stop('SIGQUIT');
      await server.start();
    });
    expect(load.unavailable).toEqual([]);
  });

  it('no acknowledged plant is missing and both repositories recover after the server was frozen for longer than the statement timeout', async () => {
    await underLoad(2, async () => {
      await server.signalAll('SIGSTOP');
      await new Promise((resolve) => {
        setTimeout(resolve, 700);
      });
      await server.signalAll('SIGCONT');
    });
  });

  it('no acknowledged plant is missing and both repositories recover after an administrator terminated every session', async () => {
    const load = await underLoad(10, async () => runSql(server.url(), endSessions));
    expect(load.unavailable).toEqual([]);
  });
});

it('a create is store-unavailable while the server is down, and succeeds after its restart', async () => {
  const repository = await open(server.url(), { deadlineMs: 500 });
  await server.stop();
  const refused = await repository.create({ id: 7n, name: 'Monstera' });
  expect(refused._unsafeUnwrapErr()).toMatchObject({
    kind: 'store-unavailable',
    reason: expect.stringContaining('ECONNREFUSED') as unknown,
  });
  await server.start();
  await expect
    .poll(async () => (await repository.create({ id: 7n, name: 'Monstera' })).isOk())
    .toBe(true);
});
