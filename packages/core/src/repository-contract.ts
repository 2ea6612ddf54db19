/**
 * `@plantstore/core/repository-contract`: the test suite that every plant repository passes.
 *
 * @module
 */

import { isRefusal } from './errors.ts';
import type { NewPlant } from './plant.ts';
import type { PlantRepository } from './plant-repository.ts';
import { ids, notPlants, texts } from './contract-plants.ts';

/** The functions of a test runner that the suite uses, as Vitest, Jest and bun:test have them. */
export type TestRunner = {
  /** Groups tests under a name. */
  readonly describe: (name: string, body: () => void) => unknown;
  /** Declares a test. */
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  /** Takes the value to compare. */
  readonly expect: (actual: unknown) => {
    /** Throws if the two are not deeply equal. */
    toEqual(expected: unknown): void;
  };
};

/** A repository under test. */
export type OpenedRepository = {
  /** The repository, empty at first. */
  readonly repository: PlantRepository;
  /**
   * Another repository on the same plants, as a second process opens it. The suite lets the two create plants with the
   * same ids at the same time. Omit it if only one process at a time may open the store.
   */
  readonly second?: PlantRepository;
  /** Closes the repository and opens it again with the same plants; omit it if plants are not durable. */
  readonly reopen?: () => Promise<PlantRepository>;
  /**
   * A plant that a custom rule of the repository refuses; omit it if there is no rule. The rule must
   * allow a plant with this id and the name `Monstera`, and the other plants of the suite.
   */
  readonly refused?: NewPlant;
  /** Releases the resources of this test. */
  readonly dispose?: () => Promise<void>;
};

const outcome = async (repository: PlantRepository, plant: NewPlant): Promise<string> =>
  repository.create(plant).match(
    () => 'ok',
    (error) => error.kind,
  );

const outcomes = async (
  repository: PlantRepository,
  plants: readonly NewPlant[],
): Promise<string[]> => Promise.all(plants.map(async (plant) => outcome(repository, plant)));

/**
 * Declares the test suite that every {@link PlantRepository} passes: atomic creates, idempotent by
 * content, exact ids and text, concurrent creates, also of two processes, and plants that survive a restart.
 * It works with any test runner that has `describe`, `it` and `expect`.
 *
 * @param runner - `describe`, `it` and `expect` of your test runner
 * @param name - the name of the repository in the test report
 * @param open - opens a new, empty repository; called once for each test
 * @example
 * ```ts
 * import { createMemoryRepository } from '@plantstore/core';
 * import { describeRepository } from '@plantstore/core/repository-contract';
 * import { describe, expect, it } from 'vitest';
 *
 * describeRepository({ describe, it, expect }, 'the memory repository', async () => ({
 *   repository: createMemoryRepository(),
 * }));
 * ```
 */
export const describeRepository = (
  { describe, it, expect }: TestRunner,
  name: string,
  open: () => Promise<OpenedRepository>,
): void => {
  const test = (behaviour: string, body: (opened: OpenedRepository) => Promise<void>) =>
    it(behaviour, async () => {
      const opened = await open();
      try {
        await body(opened);
      } finally {
        await opened.dispose?.();
      }
    });

  const expectDistinct = async (repository: PlantRepository, plants: readonly NewPlant[]) => {
    expect(await outcomes(repository, plants)).toEqual(plants.map(() => 'ok'));
    for (const [index, { id }] of plants.entries()) {
      const others = plants.map((other) => ({ ...other, id }));
      const expected = plants.map((_, other) => (other === index ? 'ok' : 'id-taken'));
      expect(await outcomes(repository, others)).toEqual(expected);
    }
  };

  /** Creates a plant through each repository at once. Repeated for many ids, because one race may miss a fault. */
  const expectRaces = async (
    one: PlantRepository,
    other: PlantRepository,
    names: readonly [string, string],
    expected: readonly string[],
  ) => {
    const plants: NewPlant[] = [];
    const results: string[] = [];
    for (let id = 0n; id < 50n; id += 1n) {
      const racing = [
        { id, name: names[0] },
        { id, name: names[1] },
      ] as const;
      const both = await Promise.all([outcome(one, racing[0]), outcome(other, racing[1])]);
      expect(both.toSorted()).toEqual(expected);
      plants.push(...racing, { id, name: 'Calathea' });
      results.push(...both, 'id-taken');
    }
    // Each repository has the plants whose creates were `ok`, and no others.
    expect(await outcomes(one, plants)).toEqual(results);
    expect(await outcomes(other, plants)).toEqual(results);
  };

  describe(name, () => {
    test('stores a new plant', async ({ repository }) => {
      expect(await outcome(repository, { id: 7n, name: 'Monstera', tag: 'climber' })).toEqual('ok');
    });

    test('accepts the same plant again', async ({ repository }) => {
      const plant = { id: 7n, name: 'Monstera', tag: 'climber' };
      expect(await outcomes(repository, [plant, plant])).toEqual(['ok', 'ok']);
      expect(await outcome(repository, { ...plant })).toEqual('ok');
    });

    test('returns id-taken with the id for another plant with an existing id', async ({
      repository,
    }) => {
      await outcome(repository, { id: 2n ** 53n + 1n, name: 'Monstera' });
      const refused = await repository.create({
        id: 2n ** 53n + 1n,
        name: 'Ficus',
      });
      expect(refused.isErr() && refused.error).toEqual({
        kind: 'id-taken',
        id: 2n ** 53n + 1n,
      });
    });

    test('changes nothing when it returns id-taken', async ({ repository }) => {
      const kept = { id: 7n, name: 'Monstera' };
      const other = { id: 7n, name: 'Ficus' };
      expect(await outcome(repository, kept)).toEqual('ok');
      expect(await outcome(repository, other)).toEqual('id-taken');
      expect(await outcome(repository, other)).toEqual('id-taken');
      expect(await outcome(repository, kept)).toEqual('ok');
    });

    test('distinguishes no tag, an empty tag and a tag', async ({ repository }) => {
      await expectDistinct(repository, [
        { id: 1n, name: 'Monstera' },
        { id: 2n, name: 'Monstera', tag: '' },
        { id: 3n, name: 'Monstera', tag: 'climber' },
      ]);
    });

    test('distinguishes a name from a tag', async ({ repository }) => {
      await expectDistinct(repository, [
        { id: 1n, name: 'ab', tag: 'c' },
        { id: 2n, name: 'a', tag: 'bc' },
        { id: 3n, name: 'c', tag: 'ab' },
      ]);
    });

    test('distinguishes a text from its start', async ({ repository }) => {
      const plant = { id: 1n, name: 'Monstera deliciosa' };
      const tagged = { id: 2n, name: 'a', tag: 'climber' };
      expect(await outcomes(repository, [plant, tagged])).toEqual(['ok', 'ok']);
      // One at a time: a store may compare the plants of a batch together.
      expect(await outcome(repository, { ...plant, name: 'Monstera' })).toEqual('id-taken');
      expect(await outcome(repository, { ...tagged, tag: 'climb' })).toEqual('id-taken');
    });

    test('refuses a plant by its rule each time, and stores nothing', async (opened) => {
      const { repository, refused: plant } = opened;
      if (plant === undefined) return;
      const refusals = [await repository.create(plant), await repository.create(plant)];
      for (const refusal of refusals) {
        const error = refusal.isErr() ? refusal.error : undefined;
        expect(error?.kind).toEqual('plant-refused');
        if (error?.kind !== 'plant-refused') return;
        expect(isRefusal(error.error)).toEqual(true);
        expect(typeof error.message).toEqual('string');
      }
      expect(await outcome(repository, { id: plant.id, name: 'Monstera' })).toEqual('ok');
    });

    test('stores every int64 id exactly', async ({ repository }) => {
      await expectDistinct(
        repository,
        ids.map((id) => ({ id, name: `plant ${id}` })),
      );
    });

    test('stores every name exactly', async ({ repository }) => {
      await expectDistinct(
        repository,
        texts.map((text, index) => ({ id: BigInt(index), name: text })),
      );
    });

    test('stores every tag exactly', async ({ repository }) => {
      await expectDistinct(
        repository,
        texts.map((text, index) => ({
          id: BigInt(index),
          name: 'Monstera',
          tag: text,
        })),
      );
    });

    test('stores a plant as it is when create is called, also if its object changes later', async ({
      repository,
    }) => {
      const plant = { id: 1n, name: 'Monstera', tag: 'climber' };
      const first = outcome(repository, plant);
      Object.assign(plant, { id: 2n, name: 'Ficus', tag: '' });
      const second = outcome(repository, plant);
      Object.assign(plant, { id: '3', name: '\ud800', tag: null });
      expect(await Promise.all([first, second])).toEqual(['ok', 'ok']);
      const others = [1n, 2n].map((id) => ({ id, name: 'Calathea' }));
      expect(await outcomes(repository, others)).toEqual(['id-taken', 'id-taken']);
      const same = [
        { id: 1n, name: 'Monstera', tag: 'climber' },
        { id: 2n, name: 'Ficus', tag: '' },
      ];
      expect(await outcomes(repository, same)).toEqual(['ok', 'ok']);
    });

    test('rejects a plant that was not validated, and no other', async ({ repository }) => {
      const plants = [...notPlants, { id: 7n, name: 'Monstera\ufffd' }] as readonly NewPlant[];
      const settled = plants.map(async (plant) =>
        repository.create(plant).then(
          (result) => (result.isOk() ? 'ok' : result.error.kind),
          () => 'rejected',
        ),
      );
      expect(await Promise.all(settled)).toEqual([...notPlants.map(() => 'rejected'), 'ok']);
    });

    test('creates exactly one of 1,000 concurrent plants with the same id', async ({
      repository,
    }) => {
      const rivals = Array.from({ length: 1000 }, (_, index) => ({
        id: 7n,
        name: `rival ${index}`,
      }));
      const results = await outcomes(repository, rivals);
      expect(results.filter((one) => one === 'ok').length).toEqual(1);
      expect(results.filter((one) => one === 'id-taken').length).toEqual(999);
      expect(await outcomes(repository, rivals)).toEqual(results);
    });

    test('accepts 1,000 concurrent creates of one plant', async ({ repository }) => {
      const same = Array.from({ length: 1000 }, () => ({
        id: 7n,
        name: 'Monstera',
        tag: 'climber',
      }));
      expect(await outcomes(repository, same)).toEqual(same.map(() => 'ok'));
    });

    test('stores the plants of a batch in which others are id-taken', async ({ repository }) => {
      const plants = Array.from({ length: 1000 }, (_, index) => ({
        id: BigInt(index % 100),
        name: `content ${Math.floor(index / 100) % 2}`,
      }));
      const results = await outcomes(repository, plants);
      const winners = new Set(plants.filter((_, index) => results[index] === 'ok').map(contentOf));
      expect(winners.size).toEqual(100);
      expect(results).toEqual(
        plants.map((one) => (winners.has(contentOf(one)) ? 'ok' : 'id-taken')),
      );
    });

    test('creates exactly one of two plants that two repositories create at once', async ({
      repository,
      second,
    }) => {
      if (second === undefined) return;
      await expectRaces(repository, second, ['Monstera', 'Ficus'], ['id-taken', 'ok']);
    });

    test('accepts a plant that two repositories create at once', async ({ repository, second }) => {
      if (second === undefined) return;
      await expectRaces(second, repository, ['Monstera', 'Monstera'], ['ok', 'ok']);
    });

    test('keeps every plant through a restart', async ({ repository, reopen }) => {
      if (reopen === undefined) return;
      const plants = [
        ...ids.map((id) => ({ id, name: `plant ${id}` })),
        ...texts.map((text, index) => ({
          id: BigInt(1000 + index),
          name: text,
          tag: text,
        })),
      ];
      expect(await outcomes(repository, plants)).toEqual(plants.map(() => 'ok'));
      const reopened = await reopen();
      const others = plants.map((plant) => ({
        ...plant,
        name: `${plant.name}!`,
      }));
      expect(await outcomes(reopened, others)).toEqual(plants.map(() => 'id-taken'));
      expect(await outcomes(reopened, plants)).toEqual(plants.map(() => 'ok'));
    });
  });
};

const contentOf = ({ id, name }: NewPlant): string => `${id} ${name}`;
