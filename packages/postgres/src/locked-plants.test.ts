import { createGroupCommit } from '@plantstore/core/group-commit';
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
