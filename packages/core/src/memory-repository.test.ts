import { describe, expect, it } from 'vitest';
import { createMemoryRepository } from './memory-repository.ts';
import { describeRepository } from './repository-contract.ts';

describeRepository({ describe, it, expect }, 'the memory repository', async () => ({
  repository: createMemoryRepository(),
}));

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
