import { join } from 'node:path';
import { countResources } from '@plantstore/test-support/count-resources';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { openSqliteRepository } from './repository.ts';

it('a SQLite repository allocates one promise and no timer for each create', async () => {
  const folder = await makeFolder();
  const repository = (
    await openSqliteRepository({ path: join(folder, 'plants.db') })
  )._unsafeUnwrap();
  // The first create of a batch starts the batch.
  const creating = [repository.create({ id: 0n, name: 'Monstera' })];
  const counted = countResources();
  for (let id = 1n; id <= 100n; id += 1n) {
    creating.push(repository.create({ id, name: 'Monstera' }));
  }
  expect(counted()).toEqual({ promises: 100, timers: 0 });
  for (const created of creating) expect((await created).isOk()).toBe(true);
  await repository.close();
});
