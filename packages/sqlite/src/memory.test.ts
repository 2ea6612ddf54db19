import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteRepository } from './open-sqlite-repository.ts';

/** Runs the garbage collector, which V8 exposes to contexts created after the flag is set. */
const collect = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

it('a commit does not leak memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  const repository = (
    await openSqliteRepository({ path: join(folder, 'plants.db') })
  )._unsafeUnwrap();
  onTestFinished(async () => {
    await repository.close();
    await rm(folder, { recursive: true });
  });
  // Creating an existing plant commits without a sync, and is fast.
  const commit = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time += 1) await repository.create({ id: 7n, name: 'x' });
    collect();
    return process.memoryUsage().heapUsed;
  };
  await commit(2_000);
  const before = await commit(1);
  const commits = 10_000;
  expect(((await commit(commits)) - before) / commits).toBeLessThan(100);
});
