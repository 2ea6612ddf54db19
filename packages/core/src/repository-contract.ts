/**
 * `@plantstore/core/repository-contract`: the one test suite that every store passes, ours and yours.
 *
 * @module
 */

import { isRefusal } from './errors.ts';
import type { NewPlant } from './plant.ts';
import type { PlantRepository } from './plant-repository.ts';
import { ids, notPlants, texts } from './contract-plants.ts';

/** What the suite needs of a test runner: vitest, jest, bun:test and others have it. */
export type TestRunner = {
  /** Groups tests under a name. */
  readonly describe: (name: string, body: () => void) => unknown;
  /** Declares a test. */
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  /** Takes the value to be judged. */
  readonly expect: (actual: unknown) => {
    /** Throws where the two are not deeply equal. */
    toEqual(expected: unknown): void;
  };
};

/** A repository under test. */
export type OpenedRepository = {
  /** Empty at first. */
  readonly repository: PlantRepository;
  /** Closes the repository and opens it again on the same plants; leave it out where nothing outlives it. */
  readonly reopen?: () => Promise<PlantRepository>;
  /**
   * A plant that a rule of the repository's own refuses; leave it out where there is no rule. A plant
   * with its id and the name `Monstera` must be allowed, as the suite's other plants.
   */
  readonly refused?: NewPlant;
  /** Gives up what this test used. */
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
 * content, exact ids and text, races, and plants that outlive a restart. It depends on no test
 * runner; yours is passed in.
 *
 * @param runner - `describe`, `it` and `expect` of your test runner
 * @param name - what the repository is called in the report
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
  const given = (sentence: string, body: (opened: OpenedRepository) => Promise<void>) =>
    it(sentence, async () => {
      const opened = await open();
      try {
        await body(opened);
      } finally {
        await opened.dispose?.();
      }
    });

  const keepsApart = async (repository: PlantRepository, plants: readonly NewPlant[]) => {
    expect(await outcomes(repository, plants)).toEqual(plants.map(() => 'ok'));
    for (const [index, { id }] of plants.entries()) {
      const others = plants.map((other) => ({ ...other, id }));
      const expected = plants.map((_, other) => (other === index ? 'ok' : 'id-taken'));
      expect(await outcomes(repository, others)).toEqual(expected);
    }
  };

  describe(name, () => {
    given('keeps a new plant', async ({ repository }) => {
      expect(await outcome(repository, { id: 7n, name: 'Monstera', tag: 'climber' })).toEqual('ok');
    });

    given('takes the same plant again', async ({ repository }) => {
      const plant = { id: 7n, name: 'Monstera', tag: 'climber' };
      expect(await outcomes(repository, [plant, plant])).toEqual(['ok', 'ok']);
      expect(await outcome(repository, { ...plant })).toEqual('ok');
    });

    given('refuses another plant under a taken id and says which', async ({ repository }) => {
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

    given('changes nothing when it refuses', async ({ repository }) => {
      const kept = { id: 7n, name: 'Monstera' };
      const other = { id: 7n, name: 'Ficus' };
      expect(await outcome(repository, kept)).toEqual('ok');
      expect(await outcome(repository, other)).toEqual('id-taken');
      expect(await outcome(repository, other)).toEqual('id-taken');
      expect(await outcome(repository, kept)).toEqual('ok');
    });

    given('tells no tag, an empty tag and a tag apart', async ({ repository }) => {
      await keepsApart(repository, [
        { id: 1n, name: 'Monstera' },
        { id: 2n, name: 'Monstera', tag: '' },
        { id: 3n, name: 'Monstera', tag: 'climber' },
      ]);
    });

    given('tells a name from a tag', async ({ repository }) => {
      await keepsApart(repository, [
        { id: 1n, name: 'ab', tag: 'c' },
        { id: 2n, name: 'a', tag: 'bc' },
        { id: 3n, name: 'c', tag: 'ab' },
      ]);
    });

    given('refuses a plant by a rule each time, and keeps nothing of it', async (opened) => {
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

    given('keeps every int64 id exactly', async ({ repository }) => {
      await keepsApart(
        repository,
        ids.map((id) => ({ id, name: `plant ${id}` })),
      );
    });

    given('keeps every name exactly', async ({ repository }) => {
      await keepsApart(
        repository,
        texts.map((text, index) => ({ id: BigInt(index), name: text })),
      );
    });

    given('keeps every tag exactly', async ({ repository }) => {
      await keepsApart(
        repository,
        texts.map((text, index) => ({
          id: BigInt(index),
          name: 'Monstera',
          tag: text,
        })),
      );
    });

    given('rejects a plant that was not validated, and no other', async ({ repository }) => {
      const plants = [...notPlants, { id: 7n, name: 'Monstera\ufffd' }] as readonly NewPlant[];
      const settled = plants.map(async (plant) =>
        repository.create(plant).then(
          (result) => (result.isOk() ? 'ok' : result.error.kind),
          () => 'rejected',
        ),
      );
      expect(await Promise.all(settled)).toEqual([...notPlants.map(() => 'rejected'), 'ok']);
    });

    given('lets one of 1,000 racing plants have an id', async ({ repository }) => {
      const rivals = Array.from({ length: 1000 }, (_, index) => ({
        id: 7n,
        name: `rival ${index}`,
      }));
      const told = await outcomes(repository, rivals);
      expect(told.filter((one) => one === 'ok').length).toEqual(1);
      expect(told.filter((one) => one === 'id-taken').length).toEqual(999);
      expect(await outcomes(repository, rivals)).toEqual(told);
    });

    given('takes 1,000 racing creates of one plant', async ({ repository }) => {
      const same = Array.from({ length: 1000 }, () => ({
        id: 7n,
        name: 'Monstera',
        tag: 'climber',
      }));
      expect(await outcomes(repository, same)).toEqual(same.map(() => 'ok'));
    });

    given('lets no refused plant harm its neighbours', async ({ repository }) => {
      const crowd = Array.from({ length: 1000 }, (_, index) => ({
        id: BigInt(index % 100),
        name: `content ${Math.floor(index / 100) % 2}`,
      }));
      const told = await outcomes(repository, crowd);
      const winners = new Set(crowd.filter((_, index) => told[index] === 'ok').map(contentOf));
      expect(winners.size).toEqual(100);
      expect(told).toEqual(crowd.map((one) => (winners.has(contentOf(one)) ? 'ok' : 'id-taken')));
    });

    given('still has every plant after a restart', async ({ repository, reopen }) => {
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
      const again = await reopen();
      const others = plants.map((plant) => ({
        ...plant,
        name: `${plant.name}!`,
      }));
      expect(await outcomes(again, others)).toEqual(plants.map(() => 'id-taken'));
      expect(await outcomes(again, plants)).toEqual(plants.map(() => 'ok'));
    });
  });
};

const contentOf = ({ id, name }: NewPlant): string => `${id} ${name}`;
