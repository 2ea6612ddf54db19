import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteRepository } from './repository.ts';

/** Runs the garbage collector, which V8 exposes to contexts created after the flag is set. */
const collect = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

it('a commit does not leak memory', async () => {
  const path = join(await makeFolder(), 'plants.db');
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  onTestFinished(async () => void (await repository.close()));
  // Creating an existing plant commits without a sync, and is fast.
  const commit = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time += 1) await repository.create({ id: 7n, name: 'x' });
    collect();
    return process.memoryUsage().heapUsed;
  };
  await commit(1_000);
  const before = await commit(1);
  const commits = 3_000;
  expect(((await commit(commits)) - before) / commits).toBeLessThan(100);
});
