import { createGroupCommit } from '@plantstore/core/group-commit';
import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { createLockedPlants } from './locked-plants.ts';

it('locked plants keep at most 10,000 ids', async () => {
  const group = createGroupCommit({ lanes: [async () => new Promise(() => {})] });
  await group.close();
  const locked = createLockedPlants(group);
  const ids = Array.from({ length: 10_001 }, (_, index) => BigInt(index));
  for (const id of ids) await locked.create({ id, name: 'Monstera' });
  expect(ids.filter(locked.has)).toEqual([10_000n]);
});

it('locked plants keep no id of a plant that was created', async () => {
  const group = createGroupCommit({ lanes: [async () => [ok()]] });
  const locked = createLockedPlants(group);
  const creating = locked.create({ id: 7n, name: 'Monstera' });
  expect(locked.has(7n)).toBe(true);
  expect((await creating).isOk()).toBe(true);
  expect(locked.has(7n)).toBe(false);
});
