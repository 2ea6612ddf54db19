import fc from 'fast-check';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createPlant } from './create-plant.ts';
import { createMemoryRepository } from './memory-repository.ts';
import type { NewPlant } from './plant.ts';
import type { PlantRefused, PlantRepository } from './plant-repository.ts';

const monstera = { id: 7n, name: 'Monstera' };

/** Returns the result of a create whose repository runs `create`, and the plants that it received. */
const createWith = async (create: PlantRepository['create'], input: unknown = monstera) => {
  const received: NewPlant[] = [];
  const repository: PlantRepository = {
    create: (plant) => {
      received.push({ ...plant });
      return create(plant);
    },
  };
  return { result: await createPlant(repository, input), received };
};

describe('createPlant', () => {
  it.each([
    { id: 7, name: 'Monstera', tag: 'climber' },
    { id: 7, name: 'Monstera' },
  ])('createPlant stores a plant and returns it without its id: %o', async (input) => {
    const { id, ...content } = input;
    const { result, received } = await createWith(() => okAsync(), input);
    expect(result._unsafeUnwrap()).toStrictEqual(content);
    expect(received).toStrictEqual([{ id: BigInt(id), ...content }]);
  });

  it('createPlant does not call the repository with an invalid plant', async () => {
    const { result, received } = await createWith(() => okAsync(), { id: '7', tag: 7 });
    expect(result._unsafeUnwrapErr()).toEqual({
      kind: 'plant-invalid',
      faults: ['id-not-integer', 'name-required', 'tag-not-text'],
    });
    expect(received).toEqual([]);
  });

  it('createPlant returns the plant of the input, even if the repository changes its argument', async () => {
    const change = (plant: NewPlant) => okAsync(void Object.assign(plant, { name: 'Ficus' }));
    const { result } = await createWith(change);
    expect(result._unsafeUnwrap()).toStrictEqual({ name: 'Monstera' });
  });

  it.each([
    { kind: 'id-taken', id: 7n },
    { kind: 'plant-refused', error: 4000, message: 'no weeds' },
    { kind: 'plant-refused', error: 4999, message: '' },
    { kind: 'store-unavailable', reason: 'the disk is full' },
  ] as const)('createPlant returns the error of the repository: %o', async (error) => {
    const { result } = await createWith(() => errAsync(error));
    expect(result._unsafeUnwrapErr()).toEqual(error);
  });

  it.each([
    ...[3999, 5000, 1401, 4000.5, Number.NaN].map((error) => ({ error, message: 'no' })),
    { error: 4000 },
    { error: 4000, message: 7 },
  ])('createPlant rejects if a repository refuses a plant with %o', async (refusal) => {
    // Without the types, a repository can return any message.
    const refused = { kind: 'plant-refused', ...refusal } as PlantRefused;
    await expect(createWith(() => errAsync(refused))).rejects.toThrow('from 4000 to 4999');
  });

  it('createPlant rejects, and does not throw, if the repository rejects or throws', async () => {
    const bug = new Error('a bug');
    const rejecting = () => ResultAsync.fromSafePromise<void>(Promise.reject(bug));
    await expect(createPlant({ create: rejecting }, monstera)).rejects.toBe(bug);
    const throwing = () => {
      throw bug;
    };
    const creating = createPlant({ create: throwing }, monstera);
    await expect(creating).rejects.toBe(bug);
  });

  it('createPlant never throws or rejects for any input, and never returns an id', async () => {
    const like = fc.record(
      {
        id: fc.oneof(fc.bigInt(), fc.double(), fc.anything()),
        name: fc.oneof(fc.string(), fc.anything()),
        tag: fc.oneof(fc.string(), fc.anything()),
      },
      { requiredKeys: [] },
    );
    const repository = createMemoryRepository();
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(fc.oneof(like, anything), async (input) => {
        const result = await createPlant(repository, input);
        if (result.isOk()) expect(Object.keys(result.value)).not.toContain('id');
        else if (result.error.kind === 'plant-invalid') expect(result.error.faults).not.toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
