/**
 * `@plantstore/core/repository-contract`: the test suite that every plant repository passes.
 *
 * @module
 */

import { isRefusal } from './errors.ts';
import type { NewPlant, Plant } from './plant.ts';
import { copyPlant } from './plant-members.ts';
import type { PlantRefused, PlantRepository } from './plant-repository.ts';
import {
  complete,
  ids,
  members,
  changeInside,
  notPlants,
  plantsWith,
  similarPlants,
  withMember,
} from './contract-plants.ts';

/**
 * Declares the test suite that every {@link PlantRepository} passes: atomic creates, idempotent by
 * content, exact ids and text, concurrent creates, also of two processes, and plants that survive a
 * restart. It works with any test runner that has `describe`, `it` and `expect`.
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
export function describeRepository(
  { describe, it, expect }: TestRunner,
  name: string,
  open: () => Promise<OpenedRepository>,
): void {
  describe(name, () => {
    for (const [behaviour, run] of Object.entries(contract)) {
      it(behaviour, async () => {
        const opened = await open();
        try {
          await run(opened, expect);
        } finally {
          await opened.dispose?.();
        }
      });
    }
  });
}

/** What every repository does: the name of a test, and the test. */
const contract: Readonly<Record<string, Behaviour>> = {
  'stores a new plant, and accepts the same plant again': async ({ repository }, expect) => {
    const plant: NewPlant = { id: 7n, ...complete };
    const absent: NewPlant = { id: 8n, name: 'Monstera' };
    const written = members.map((member) => withMember(absent, member, absent[member]));
    expect(await kinds(repository, [plant, { ...plant }, absent, ...written])).toEqual(['ok']);
  },
  'returns id-taken for another plant with an existing id': async ({ repository }, expect) => {
    const kept = { id: (1n << 53n) + 1n, name: 'Monstera' };
    expect(await kinds(repository, [kept])).toEqual(['ok']);
    const refused = await repository.create({ ...kept, name: 'Ficus' });
    expect(refused.isErr() && refused.error).toEqual({ kind: 'id-taken', id: kept.id });
  },
  'distinguishes plants that a store may confuse': async ({ repository }, expect) => {
    expect(await kinds(repository, similar(0))).toEqual(['ok']);
    expect(await kinds(repository, similar(1))).toEqual(['id-taken']);
  },
  'refuses a plant by its rule each time': async ({ repository, refused: plant }, expect) => {
    if (plant === undefined) return;
    for (const created of [await repository.create(plant), await repository.create(plant)]) {
      const { kind, error, message } = created._unsafeUnwrapErr() as PlantRefused;
      expect([kind, isRefusal(error), typeof message]).toEqual(['plant-refused', true, 'string']);
    }
    expect(await outcome(repository, { id: plant.id, name: 'Monstera' })).toEqual('ok');
  },
  'stores every int64 id exactly': async ({ repository }, expect) => {
    const plants = ids.map((id) => ({ id, name: `plant ${id}` }));
    await expectDistinct(expect, repository, plants);
  },
  'stores every value of each member exactly': async ({ repository }, expect) => {
    for (const [index, member] of members.entries())
      await expectDistinct(expect, repository, numbered(plantsWith(member), 1000 * index));
  },
  'stores a plant as it is when create is called': async ({ repository }, expect) => {
    const kept: NewPlant = { id: 7n, ...complete };
    const plant: Record<string, unknown> = { ...copyPlant(kept) };
    const created = outcome(repository, plant as NewPlant);
    for (const member in plant) {
      changeInside(plant[member]);
      plant[member] = null;
    }
    const results = [await created, ...(await outcomes(repository, [anotherOf(kept), kept]))];
    expect(results).toEqual(['ok', 'id-taken', 'ok']);
  },
  'rejects a plant that was not validated, and no other': async ({ repository }, expect) => {
    const plants = [...notPlants, { id: 7n, name: 'Monstera\ufffd' }] as readonly NewPlant[];
    // Async, so that the test fails if a repository throws.
    const results = plants.map(async (plant) =>
      repository.create(plant).then(kindOf, () => 'rejected'),
    );
    expect(await Promise.all(results)).toEqual([...notPlants.map(() => 'rejected'), 'ok']);
  },
  'stores one plant for each id of 1,000 concurrent creates': async ({ repository }, expect) => {
    // Each id has five contents, and two creates of each.
    const plants = Array.from({ length: 1000 }, (_, index) => ({
      ...complete,
      id: BigInt(index % 100),
      name: `content ${Math.floor(index / 100) % 5}`,
    }));
    const results = await outcomes(repository, plants);
    const created = plants.filter((_, index) => results[index] === 'ok');
    const kept = new Set(created.map(({ id, name: content }) => `${id} ${content}`));
    expect([kept.size, created.length]).toEqual([100, 200]);
    expect(await outcomes(repository, plants)).toEqual(results);
  },
  'shares its plants with a second repository': async ({ repository, second }, expect) => {
    if (second === undefined) return;
    const plants: NewPlant[] = [];
    const results: string[] = [];
    // Repeated, because one race may miss a fault.
    for (let id = 0n; id < 200n; id += 4n) {
      const [one, other] = [racingPlants(id, 'Monstera', 2n), racingPlants(id, 'Ficus', 3n)];
      const creating = [outcomes(repository, one), outcomes(second, other)];
      results.push(...(await Promise.all(creating)).flat());
      plants.push(...one, ...other);
    }
    // Each has the plants whose creates were `ok`, and no others. First with other plants.
    for (const each of [repository, second])
      expect(await kinds(each, plants.map(anotherOf))).toEqual(['id-taken']);
    for (const each of [repository, second]) expect(await outcomes(each, plants)).toEqual(results);
  },
  'keeps every plant through two restarts': async ({ repository, reopen }, expect) => {
    if (reopen === undefined) return;
    const plants = [...similar(0), ...ids.map((id) => ({ id, name: `plant ${id}` }))];
    let opened = repository;
    for (const restart of [0, 1]) {
      const some = plants.filter((_, index) => index % 2 === restart);
      expect(await kinds(opened, some)).toEqual(['ok']);
      opened = await reopen();
    }
    expect(await kinds(opened, [...plants.map(anotherOf), ...similar(1)])).toEqual(['id-taken']);
    expect(await kinds(opened, plants)).toEqual(['ok']);
  },
};

type Behaviour = (opened: OpenedRepository, expect: Expect) => Promise<void>;

async function expectDistinct(
  expect: Expect,
  repository: PlantRepository,
  plants: readonly NewPlant[],
): Promise<void> {
  expect(await kinds(repository, plants)).toEqual(['ok']);
  for (const [index, { id }] of plants.entries()) {
    const others = plants.map((other) => ({ ...other, id }));
    const expected = plants.map((_, other) => (other === index ? 'ok' : 'id-taken'));
    expect(await outcomes(repository, others)).toEqual(expected);
  }
}

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

type Expect = TestRunner['expect'];

/** A repository under test. */
export type OpenedRepository = {
  /** The repository, empty at first. */
  readonly repository: PlantRepository;
  /**
   * Another repository on the same plants, as a second process opens it. The suite lets the two
   * create plants with the same ids at the same time. Omit it if only one process at a time may
   * open the store.
   */
  readonly second?: PlantRepository;
  /**
   * Closes the open repository and opens it again with the same plants. Called twice. Omit it if
   * plants are not durable.
   */
  readonly reopen?: () => Promise<PlantRepository>;
  /**
   * A plant that a custom rule of the repository refuses; omit it if there is no rule. The rule
   * must allow a plant with this id and the name `Monstera`, and the other plants of the suite.
   */
  readonly refused?: NewPlant;
  /** Releases the resources of this test. */
  readonly dispose?: () => Promise<void>;
};

async function outcome(repository: PlantRepository, plant: NewPlant): Promise<string> {
  return repository.create(plant).then(kindOf);
}

async function outcomes(repository: PlantRepository, plants: readonly NewPlant[]) {
  return Promise.all(plants.map(async (plant) => outcome(repository, plant)));
}

/** Returns the different outcomes of creates. */
async function kinds(repository: PlantRepository, plants: readonly NewPlant[]) {
  return [...new Set(await outcomes(repository, plants))];
}

function kindOf(created: Awaited<ReturnType<PlantRepository['create']>>): string {
  return created.isOk() ? 'ok' : created.error.kind;
}

/** Returns plants of which another repository creates another one, the same one, and none. */
function racingPlants(id: bigint, name: string, own: bigint): readonly NewPlant[] {
  return [
    { id, name },
    { id: id + 1n, name: 'Calathea' },
    { id: id + own, name },
  ];
}

/** Returns another plant with the same id. */
function anotherOf({ id }: NewPlant): NewPlant {
  return { id, name: 'Pilea' };
}

/** Returns one of two contents for each id that a store may confuse. */
function similar(at: 0 | 1): readonly NewPlant[] {
  return numbered(similarPlants.map((pair) => pair[at]));
}

/** Returns plants with consecutive ids. */
function numbered(plants: readonly Plant[], first = 1000): readonly NewPlant[] {
  return plants.map((plant, index) => ({ id: BigInt(first + index), ...plant }));
}
