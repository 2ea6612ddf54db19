import { createHook } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { open } from '../test/behind-proxy.ts';
import { newDatabase, sharedUrl } from '../test/shared-postgres.ts';

/** Counts the promises and timers that a task makes before it returns. */
const countResources = (task: () => void): Record<string, number> => {
  const counts = { promises: 0, timers: 0 };
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') counts.promises += 1;
      if (type === 'Timeout') counts.timers += 1;
    },
  }).enable();
  task();
  hook.disable();
  return counts;
};

it('makes one promise for each create, and no timer', async () => {
  const repository = await open(sharedUrl(await newDatabase()));
  // The first create of a batch starts the batch.
  const creating = [repository.create({ id: 0n, name: 'Monstera' })];
  const counts = countResources(() => {
    for (let id = 1n; id <= 100n; id += 1n) {
      creating.push(repository.create({ id, name: 'Monstera' }));
    }
  });
  expect(counts).toEqual({ promises: 100, timers: 0 });
  for (const created of creating) expect((await created).isOk()).toBe(true);
});
