import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryRepository } from './memory-repository.ts';
import type { NewPlant } from './plant.ts';
import { describeRepository } from './repository-contract.ts';

describeRepository({ describe, it, expect }, 'the memory repository', async () => ({
  repository: createMemoryRepository(),
}));

const texts = fc.constantFrom('', 'e\u0301', '\u00e9', 'null', '🪴');
const plants: fc.Arbitrary<NewPlant> = fc
  .record({ id: fc.bigInt(-1n, 1n), name: texts, tag: texts }, { requiredKeys: ['id', 'name'] })
  .map(({ tag, ...plant }) => (tag === undefined ? plant : { ...plant, tag }));

it('the memory repository keeps the first plant of each id, for every sequence of creates', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plants, { maxLength: 20 }), async (creates) => {
      const repository = createMemoryRepository();
      for (const [index, plant] of creates.entries()) {
        const first = creates.slice(0, index + 1).find(({ id }) => id === plant.id);
        const isSame = first?.name === plant.name && first.tag === plant.tag;
        const created = await repository.create(plant);
        expect(created.isOk() ? 'ok' : created.error.kind).toBe(isSame ? 'ok' : 'id-taken');
      }
    }),
  );
});

it('the memory repository is available until it is closed', async () => {
  const repository = createMemoryRepository();
  await repository.create({ id: 7n, name: 'Monstera' });
  expect((await repository.check()).isOk()).toBe(true);
  expect(repository.waiting()).toBe(0);
  await repository.close();
  await repository.close();
  const unavailable = { kind: 'store-unavailable', reason: 'the repository is closed' };
  expect((await repository.check())._unsafeUnwrapErr()).toEqual(unavailable);
  const created = await repository.create({ id: 7n, name: 'Monstera' });
  expect(created._unsafeUnwrapErr()).toEqual(unavailable);
});
