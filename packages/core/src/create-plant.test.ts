import fc from 'fast-check';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createPlant } from './create-plant.ts';
import { createMemoryRepository } from './memory-repository.ts';
import type { NewPlant } from './plant.ts';
import type { PlantRepository } from './plant-repository.ts';

const createRecordingRepository = () => {
  const created: NewPlant[] = [];
  const create: PlantRepository['create'] = (plant) => {
    created.push(plant);
    return okAsync();
  };
  return { created, create };
};

describe('createPlant', () => {
  it('createPlant stores the plant and returns it without its id', async () => {
    const repository = createRecordingRepository();
    const result = await createPlant(repository, {
      id: 7,
      name: 'Monstera',
      tag: 'climber',
    });
    expect(result._unsafeUnwrap()).toStrictEqual({
      name: 'Monstera',
      tag: 'climber',
    });
    expect(repository.created).toStrictEqual([{ id: 7n, name: 'Monstera', tag: 'climber' }]);
  });

  it('createPlant returns a tag only if the input has one', async () => {
    const result = await createPlant(createMemoryRepository(), {
      id: 7,
      name: 'Monstera',
    });
    expect(result._unsafeUnwrap()).toStrictEqual({ name: 'Monstera' });
  });

  it('createPlant does not call the repository with an invalid plant', async () => {
    const repository = createRecordingRepository();
    const result = await createPlant(repository, { id: '7', tag: 7 });
    expect(result._unsafeUnwrapErr()).toEqual({
      kind: 'plant-invalid',
      faults: ['id-not-integer', 'name-required', 'tag-not-text'],
    });
    expect(repository.created).toEqual([]);
  });

  it('createPlant returns the plant of the input, even if the repository changes its argument', async () => {
    const create = (plant: NewPlant) => okAsync(void Object.assign(plant, { name: 'Ficus' }));
    const result = await createPlant({ create }, { id: 7, name: 'Monstera' });
    expect(result._unsafeUnwrap()).toStrictEqual({ name: 'Monstera' });
  });

  it('createPlant returns the error of the repository', async () => {
    for (const error of [
      { kind: 'id-taken', id: 7n },
      { kind: 'plant-refused', error: 4000, message: 'no weeds' },
      { kind: 'plant-refused', error: 4999, message: '' },
      { kind: 'store-unavailable', reason: 'the disk is full' },
    ] as const) {
      const result = await createPlant({ create: () => errAsync(error) }, { id: 7, name: 'x' });
      expect(result._unsafeUnwrapErr()).toEqual(error);
    }
  });

  it('creates exactly one of 1,000 concurrent plants with the same id', async () => {
    const repository = createMemoryRepository();
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        createPlant(repository, { id: 7, name: `${index}` }),
      ),
    );
    expect(results.filter((result) => result.isOk())).toHaveLength(1);
  });

  it('createPlant rejects if the repository rejects', async () => {
    const broken: PlantRepository = {
      create: () => ResultAsync.fromSafePromise(Promise.reject(new Error('a bug'))),
    };
    await expect(createPlant(broken, { id: 7, name: 'x' })).rejects.toThrow('a bug');
  });

  it('createPlant rejects, and does not throw, if the repository throws', async () => {
    const broken: PlantRepository = {
      create: () => {
        throw new Error('a bug');
      },
    };
    const creating = createPlant(broken, { id: 7, name: 'x' });
    await expect(creating).rejects.toThrow('a bug');
  });

  it.each([3999, 5000, 1401, 4000.5, Number.NaN, '4001'])(
    'createPlant rejects if a repository refuses a plant with the number %s',
    async (error) => {
      const refused = { kind: 'plant-refused', error: error as number, message: 'no' } as const;
      const creating = createPlant({ create: () => errAsync(refused) }, { id: 7, name: 'x' });
      await expect(creating).rejects.toThrow('from 4000 to 4999');
    },
  );

  it('createPlant rejects if a repository refuses a plant without a message', async () => {
    const refused = { kind: 'plant-refused', error: 4001, message: undefined as never } as const;
    const creating = createPlant({ create: () => errAsync(refused) }, { id: 7, name: 'x' });
    await expect(creating).rejects.toThrow('a string');
  });

  it.each(['plant-invalid', 'unknown', undefined])(
    'createPlant rejects if a repository returns an error of the kind %s',
    async (kind) => {
      const create = () => errAsync({ kind } as never);
      await expect(createPlant({ create }, { id: 7, name: 'x' })).rejects.toThrow('of the port');
    },
  );

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
    await fc.assert(
      fc.asyncProperty(fc.oneof(like, fc.anything()), async (input) => {
        const result = await createPlant(repository, input);
        if (result.isOk()) expect(Object.keys(result.value)).not.toContain('id');
      }),
      { numRuns: 2000 },
    );
  });
});
