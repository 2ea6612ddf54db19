import { isDeepStrictEqual } from 'node:util';
import { errAsync, okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { assertNewPlant } from './assert-new-plant.ts';
import { complete, members, withMember } from './contract-plants.ts';
import { createMemoryRepository } from './memory-repository.ts';
import type { NewPlant } from './plant.ts';
import { copyPlant, differingMember } from './plant-members.ts';
import type { PlantRepository } from './plant-repository.ts';
import { describeRepository, type OpenedRepository } from './repository-contract.ts';
import {
  changing,
  confusingRepositories,
  rejecting,
  resultOf,
  withText,
  type Wrong,
  writingCopies,
} from '../test/wrong-repositories.ts';

/** Runs the suite on a repository until `most` of its tests have failed, and returns their names. */
const failures = async (
  open: () => Promise<OpenedRepository>,
  most = Infinity,
): Promise<string[]> => {
  const tests: [string, () => Promise<void>][] = [];
  const runner = {
    describe: (_: string, body: () => void) => body(),
    it: (name: string, body: () => Promise<void>) => tests.push([name, body]),
    // Without a description of the difference, which takes longer than the tests.
    expect: (actual: unknown) => ({
      toEqual: (expected: unknown) => {
        if (!isDeepStrictEqual(actual, expected)) throw new Error('not equal');
      },
    }),
  };
  describeRepository(runner, 'under test', open);
  const failed: string[] = [];
  for (const [name, body] of tests) {
    await body().catch(() => failed.push(name));
    if (failed.length === most) break;
  }
  return failed;
};

const lateWriter = (): PlantRepository => {
  const plants = new Map<bigint, NewPlant>();
  const create = async (plant: NewPlant) => {
    const kept = plants.get(plant.id);
    await Promise.resolve();
    if (kept === undefined) plants.set(plant.id, plant);
    return kept === undefined || differingMember(kept, plant) === undefined;
  };
  return { create: (plant) => resultOf(plant.id, create(plant)) };
};

/** Reads, then writes what `change` returns. One create at a time, so that only another process comes in between. */
const readThenWrite = (
  plants: Map<bigint, NewPlant>,
  change: (kept: NewPlant | undefined, plant: NewPlant) => NewPlant,
): PlantRepository => {
  let last = Promise.resolve();
  const isKept = async (created: NewPlant): Promise<boolean> => {
    const plant = copyPlant(created);
    const { id } = plant;
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    const kept = plants.get(id);
    await Promise.resolve();
    plants.set(id, change(kept, plant));
    resolve();
    return kept === undefined || differingMember(kept, plant) === undefined;
  };
  return rejecting((plant) => resultOf(plant.id, isKept(plant)));
};

/** Refuses some plants, with a number. */
const refusing =
  (isRefused: (plant: NewPlant) => boolean, error = 4001) =>
  async (): Promise<OpenedRepository> => {
    const inner = createMemoryRepository();
    const message = 'no weeds';
    return {
      repository: rejecting((plant) =>
        isRefused(plant)
          ? errAsync({ kind: 'plant-refused', error, message })
          : inner.create(plant),
      ),
      refused: { id: 7_000n, name: 'Bindweed', tag: 'weed' },
    };
  };

describe('repository contract', () => {
  it('the repository contract finds nothing wrong with a repository that keeps its promises', async () => {
    expect(await failures(changing((plant) => plant))).toEqual([]);
  });

  it('the repository contract passes for a repository with a custom rule', async () => {
    expect(await failures(refusing((plant) => plant.tag === 'weed'))).toEqual([]);
  });

  it.each<Wrong>([
    ...confusingRepositories,
    ['does not apply its rule', refusing(() => false)],
    ['refuses with a number of the error table', refusing((plant) => plant.tag === 'weed', 1401)],
    ['refuses with a fraction as the number', refusing((plant) => plant.tag === 'weed', 4000.5)],
    ['refuses every plant with an id', refusing((plant) => plant.id === 7_000n)],
    [
      'refuses a plant the first time only',
      (() => {
        const seen = new Set<bigint>();
        return refusing(({ id }) => id === 7_000n && seen.size !== seen.add(id).size);
      })(),
    ],
    ...members.map((member): Wrong => [
      `stores one value of the member ${member}`,
      changing((plant) => withMember(plant, member, complete[member])),
    ]),
    [
      'joins the members of a plant',
      changing(({ id, ...plant }) => ({
        id,
        name: members.flatMap((member) => plant[member] ?? []).join(' / '),
      })),
    ],
    ['stores ids as doubles', changing((plant) => ({ ...plant, id: BigInt(Number(plant.id)) }))],
    [
      'stores 32 bits of an id',
      changing((plant) => ({ ...plant, id: BigInt.asIntN(32, plant.id) })),
    ],
    ['trims text', withText((text) => text.trim())],
    ['normalizes text', withText((text) => text.normalize())],
    ['ignores case', withText((text) => text.toLowerCase())],
    ['removes a BOM', withText((text) => text.replace(/^\ufeff/, ''))],
    ['changes line endings', withText((text) => text.replaceAll('\r\n', '\n'))],
    ['truncates long text', withText((text) => text.slice(0, 65_535))],
    [
      'stores an empty tag as no tag',
      changing(({ id, name, tag }) => ({ id, name, ...(tag && { tag }) })),
    ],
    ['stores no tag as an empty tag', changing((plant) => ({ tag: '', ...plant }))],
    [
      'does not read and write atomically',
      async () => ({ repository: rejecting(lateWriter().create) }),
    ],
    ['returns ok for every plant', async () => ({ repository: rejecting(() => okAsync()) })],
    [
      'creates plants that were not validated',
      async () => {
        const plants = new Map<bigint, string>();
        const create: PlantRepository['create'] = ({ id, name, tag }) => {
          const plant = JSON.stringify({ name, tag });
          const kept = plants.get(id) ?? plant;
          plants.set(id, kept);
          return kept === plant ? okAsync() : errAsync({ kind: 'id-taken', id });
        };
        return { repository: { create } };
      },
    ],
    [
      'throws instead of rejecting',
      async () => {
        const inner = createMemoryRepository();
        const create: PlantRepository['create'] = (plant) => {
          assertNewPlant(plant);
          return inner.create(plant);
        };
        return { repository: { create } };
      },
    ],
    [
      'returns id-taken for a repeated create',
      async () => {
        const seen = new Set<bigint>();
        return { repository: rejecting(({ id }) => resultOf(id, seen.size !== seen.add(id).size)) };
      },
    ],
    [
      'overwrites plants',
      async () => {
        const plants = new Map<bigint, NewPlant>();
        const create: PlantRepository['create'] = (plant) => {
          const kept = plants.get(plant.id);
          plants.set(plant.id, plant);
          return resultOf(
            plant.id,
            kept === undefined || differingMember(kept, plant) === undefined,
          );
        };
        return { repository: rejecting(create) };
      },
    ],
    [
      'loses plants on restart',
      async () => ({
        repository: createMemoryRepository(),
        reopen: async () => createMemoryRepository(),
      }),
    ],
  ])('the repository contract catches a repository that %s', async (_, open) => {
    expect(await failures(open, 1)).toHaveLength(1);
  });

  it.each<[string, () => [PlantRepository, PlantRepository]]>([
    [
      'reads, then writes',
      () => {
        const plants = new Map<bigint, NewPlant>();
        const open = () => readThenWrite(plants, (kept, plant) => kept ?? plant);
        return [open(), open()];
      },
    ],
    ['writes back its old copy of all plants', () => writingCopies(false)],
    ['reads and writes all plants at once', () => writingCopies(true)],
    [
      'does not see the plants of the other',
      () => [createMemoryRepository(), createMemoryRepository()],
    ],
    [
      'is unavailable for a plant that the other has just created',
      () => {
        const inner = createMemoryRepository();
        const created = new Set<bigint>();
        const second: PlantRepository = {
          create: (plant) =>
            created.size === created.add(plant.id).size
              ? inner.create(plant)
              : errAsync({ kind: 'store-unavailable', reason: 'a key exists already' }),
        };
        return [inner, second];
      },
    ],
  ])(
    'the repository contract catches a repository that %s, with a second one only',
    async (_, open) => {
      expect(await failures(async () => ({ repository: open()[0] }))).toEqual([]);
      const failed = await failures(async () => {
        const [repository, second] = open();
        return { repository, second };
      });
      expect(failed).not.toEqual([]);
    },
  );

  it('the repository contract passes for two repositories on the same plants', async () => {
    const open = async () => {
      const repository = createMemoryRepository();
      return { repository, second: { create: repository.create } };
    };
    expect(await failures(open)).toEqual([]);
  });

  it('the repository contract disposes of the repository after each test, also after a failed one', async () => {
    let opened = 0;
    await failures(async () => {
      opened += 1;
      return {
        repository: { create: () => okAsync() },
        dispose: async () => {
          opened -= 1;
        },
      };
    });
    expect(opened).toBe(0);
  });
});
