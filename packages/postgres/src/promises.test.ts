import { countResources } from '@plantstore/test-support/count-resources';
import { expect, it } from 'vitest';
import { open } from '../test/open.ts';
import { emptyDatabase, sharedUrl } from '../test/shared-postgres.ts';

it('a PostgreSQL repository allocates one promise and no timer for each create', async () => {
  const repository = await open(sharedUrl(await emptyDatabase()));
  // The first create of a batch starts the batch.
  const creating = [repository.create({ id: 0n, name: 'Monstera' })];
  const counted = countResources();
  for (let id = 1n; id <= 100n; id += 1n) {
    creating.push(repository.create({ id, name: 'Monstera' }));
  }
  expect(counted()).toEqual({ promises: 100, timers: 0 });
  for (const created of creating) expect((await created).isOk()).toBe(true);
});
