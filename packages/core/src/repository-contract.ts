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
  texts,
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
    const plant = { id: 7n, ...complete };
    expect(await outcome(repository, plant)).toEqual('ok');
    await expectAll(expect, repository, [plant, { ...plant }], 'ok');
    const absent: NewPlant = { id: 8n, name: 'Monstera' };
    const written = members.map((member) => withMember(absent, member, absent[member]));
    await expectAll(expect, repository, [absent, ...written], 'ok');
  },
  'returns id-taken for another plant with an existing id': async ({ repository }, expect) => {
    const kept = { id: (1n << 53n) + 1n, name: 'Monstera' };
    await expectAll(expect, repository, [kept], 'ok');
    const refused = await repository.create({ ...kept, name: 'Ficus' });
    expect(refused.isErr() && refused.error).toEqual({ kind: 'id-taken', id: kept.id });
    await expectAll(expect, repository, [anotherOf(kept), anotherOf(kept)], 'id-taken');
    await expectAll(expect, repository, [kept], 'ok');
  },
  'distinguishes plants that a store may confuse': async ({ repository }, expect) => {
    await expectAll(expect, repository, similar(0), 'ok');
    await expectAll(expect, repository, similar(1), 'id-taken');
  },
  'distinguishes a text from its start': async ({ repository }, expect) => {
    const plants = (text: string) =>
      numbered(members.flatMap((member) => plantsWith(member, [text])));
    await expectAll(expect, repository, plants('Monstera deliciosa'), 'ok');
    // One at a time: a store may compare the plants of a batch together.
    for (const plant of plants('Monstera'))
      expect(await outcome(repository, plant)).toEqual('id-taken');
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
  'stores every text exactly, as each member': async ({ repository }, expect) => {
    for (const [index, member] of members.entries()) {
      const plants = numbered(plantsWith(member, texts), 1000 * index);
      await expectDistinct(expect, repository, plants);
    }
  },
  'stores a plant as it is when create is called': async ({ repository }, expect) => {
    const same = [
      { id: 1n, ...complete },
      { id: 2n, name: 'Ficus' },
    ];
    const plant: Record<string, unknown> = { ...copyPlant({ id: 1n, ...complete }) };
    const first = outcome(repository, plant as NewPlant);
    for (const member in complete) {
      changeInside(plant[member]);
      plant[member] = undefined;
    }
    const second = outcome(repository, Object.assign(plant, same[1]) as NewPlant);
    for (const member in plant) plant[member] = null;
    expect(await Promise.all([first, second])).toEqual(['ok', 'ok']);
    await expectAll(expect, repository, same.map(anotherOf), 'id-taken');
    await expectAll(expect, repository, same, 'ok');
  },
  'rejects a plant that was not validated, and no other': async ({ repository }, expect) => {
    const plants = [...notPlants, { id: 7n, name: 'Monstera\ufffd' }] as readonly NewPlant[];
    const settled = plants.map(async (plant) =>
      repository.create(plant).then(
        (created) => (created.isOk() ? 'ok' : created.error.kind),
        () => 'rejected',
      ),
    );
    expect(await Promise.all(settled)).toEqual([...notPlants.map(() => 'rejected'), 'ok']);
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
    const kept = new Map(created.map(({ id, name: content }) => [id, content]));
    expect(results).toEqual(
      plants.map(({ id, name: content }) => (kept.get(id) === content ? 'ok' : 'id-taken')),
    );
    expect(kept.size).toEqual(100);
    expect(await outcomes(repository, plants)).toEqual(results);
  },
  'creates one of two plants of two repositories': async ({ repository, second }, expect) => {
    if (second === undefined) return;
    const expected = ['id-taken', 'ok', 'ok', 'ok'];
    await expectRaces(expect, [repository, second], ['Monstera', 'Ficus'], expected);
  },
  'accepts one plant of two repositories': async ({ repository, second }, expect) => {
    if (second === undefined) return;
    const expected = ['ok', 'ok', 'ok', 'ok'];
    await expectRaces(expect, [second, repository], ['Monstera', 'Monstera'], expected);
  },
  'keeps every plant through two restarts': async ({ repository, reopen }, expect) => {
    if (reopen === undefined) return;
    const plants = [...similar(0), ...ids.map((id) => ({ id, name: `plant ${id}` }))];
    let opened = repository;
    for (const restart of [0, 1]) {
      const some = plants.filter((_, index) => index % 2 === restart);
      await expectAll(expect, opened, some, 'ok');
      opened = await reopen();
    }
    await expectAll(expect, opened, [...plants.map(anotherOf), ...similar(1)], 'id-taken');
    await expectAll(expect, opened, plants, 'ok');
  },
};

type Behaviour = (opened: OpenedRepository, expect: Expect) => Promise<void>;

async function expectAll(
  expect: Expect,
  repository: PlantRepository,
  plants: readonly NewPlant[],
  expected: string,
): Promise<void> {
  expect(await outcomes(repository, plants)).toEqual(plants.map(() => expected));
}

async function expectDistinct(
  expect: Expect,
  repository: PlantRepository,
  plants: readonly NewPlant[],
): Promise<void> {
  await expectAll(expect, repository, plants, 'ok');
  for (const [index, { id }] of plants.entries()) {
    const others = plants.map((other) => ({ ...other, id }));
    const expected = plants.map((_, other) => (other === index ? 'ok' : 'id-taken'));
    expect(await outcomes(repository, others)).toEqual(expected);
  }
}

/**
 * Creates one plant with the same id, and one with its own id, through each of two repositories at
 * once. Repeated, because one race may miss a fault.
 */
async function expectRaces(
  expect: Expect,
  [one, other]: readonly [PlantRepository, PlantRepository],
  names: readonly [string, string],
  expected: readonly string[],
): Promise<void> {
  const plants: NewPlant[] = [];
  const results: string[] = [];
  for (let id = 0n; id < 150n; id += 3n) {
    const racing = names.map((racer, index) => [
      { id, name: racer },
      { id: id + 1n + BigInt(index), name: racer },
    ]) as [NewPlant[], NewPlant[]];
    const created = await Promise.all([outcomes(one, racing[0]), outcomes(other, racing[1])]);
    expect(created.flat().toSorted()).toEqual(expected);
    plants.push(...racing.flat());
    results.push(...created.flat());
  }
  // Each repository has the plants whose creates were `ok`, and no others. First with plants that
  // must not be stored.
  for (const repository of [one, other])
    await expectAll(expect, repository, plants.map(anotherOf), 'id-taken');
  for (const repository of [one, other])
    expect(await outcomes(repository, plants)).toEqual(results);
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
  return repository.create(plant).match(
    () => 'ok',
    (error) => error.kind,
  );
}

async function outcomes(repository: PlantRepository, plants: readonly NewPlant[]) {
  const found: string[] = [];
  // A store may limit how many creates wait.
  for (let at = 0; at < plants.length; at += 5_000) {
    const part = plants.slice(at, at + 5_000);
    found.push(...(await Promise.all(part.map(async (plant) => outcome(repository, plant)))));
  }
  return found;
}

/** Returns another plant with the same id. */
function anotherOf({ id }: NewPlant): NewPlant {
  return { id, name: 'Calathea' };
}

/** Returns one of two contents for each id that a store may confuse. */
function similar(at: 0 | 1): readonly NewPlant[] {
  return numbered(similarPlants.map((pair) => pair[at]));
}

/** Returns plants with consecutive ids. */
function numbered(plants: readonly Plant[], first = 1000): readonly NewPlant[] {
  return plants.map((plant, index) => ({ id: BigInt(first + index), ...plant }));
}
