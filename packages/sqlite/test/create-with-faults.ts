// Creates plants in a folder (the first argument) while everything goes wrong between two steps and
// within them, and compares each answer with a Map. With "small" as the second, the folder is a disk
// of 2 MB, and is filled up, too.
import { join } from 'node:path';
import type { NewPlant } from '@plantstore/core';
import fc from 'fast-check';
import { type FaultyStore, openFaultyStore } from './faulty-store.ts';
import { compare, type Outcome, type World } from './worlds.ts';

const [folder = '', disk] = process.argv.slice(2);
const path = join(folder, 'plants.db');
const ballast = disk === 'small' ? join(folder, 'ballast') : undefined;

type Model = { worlds: readonly World[] };
type Fault = keyof FaultyStore['faults'];
type Step = fc.AsyncCommand<Model, FaultyStore>;

const told = { ok: 0, 'id-taken': 0, 'store-unavailable': 0 };

const create = async (
  model: Model,
  store: FaultyStore,
  plants: readonly NewPlant[],
  meanwhile?: Fault,
): Promise<Outcome[]> => {
  const creating = plants.map(async (plant) =>
    (await store.create(plant)).match(
      (): Outcome => 'ok',
      ({ kind }): Outcome => {
        if (kind === 'plant-refused') throw new Error('a store has no rules');
        return kind;
      },
    ),
  );
  if (meanwhile !== undefined) await store.faults[meanwhile]();
  const outcomes = await Promise.all(creating);
  for (const outcome of outcomes) told[outcome] += 1;
  model.worlds = compare(model.worlds, plants, outcomes);
  return outcomes;
};

/** Once nothing is wrong any more, the store takes what it is given. */
const createMended = async (model: Model, store: FaultyStore, plants: readonly NewPlant[]) => {
  store.mend();
  // What went wrong is found out by the first create after it.
  const outcomes = await create(model, store, plants);
  if (!outcomes.includes('store-unavailable')) return;
  store.mend();
  const again = await create(model, store, plants);
  if (again.includes('store-unavailable')) throw new Error('the store did not recover');
};

const aPlant = fc
  .record({
    id: fc.bigInt({ min: 0n, max: 4n }),
    name: fc.constantFrom('Monstera', 'Ficus', 'x'.repeat(20_000)),
    tag: fc.constantFrom(undefined, '', 'climber'),
  })
  .map(({ id, name, tag }): NewPlant => (tag === undefined ? { id, name } : { id, name, tag }));
const aCrowd = fc.array(aPlant, { minLength: 1, maxLength: 8 });
const aFault = fc.constantFrom<Fault>(
  'kill the thread',
  'crash the thread',
  'remove the log',
  'move the file',
  'lock the file',
  'fill the disk',
  'mend',
);

const step = (text: string, run: Step['run']): Step => ({
  check: () => true,
  run,
  toString: () => text,
});
const idsOf = (plants: readonly NewPlant[]): string => plants.map(({ id }) => id).join(' ');

const steps: fc.Arbitrary<Step>[] = [
  aCrowd.map((plants) =>
    step(
      `create ${idsOf(plants)}`,
      async (model, store) => void (await create(model, store, plants)),
    ),
  ),
  fc.tuple(aCrowd, aFault).map(([plants, fault]) =>
    step(`create ${idsOf(plants)}, meanwhile ${fault}`, async (model, store) => {
      await create(model, store, plants, fault);
    }),
  ),
  aCrowd.map((plants) =>
    step(`mend, create ${idsOf(plants)}`, async (model, store) =>
      createMended(model, store, plants),
    ),
  ),
  aFault.map((fault) => step(fault, async (_, store) => void (await store.faults[fault]()))),
  fc.constant(step('reopen', async (_, store) => store.reopen())),
];

const everyId = [0n, 1n, 2n, 3n, 4n].map((id) => ({ id, name: 'another content' }));

await fc.assert(
  fc.asyncProperty(fc.commands(steps, { maxCommands: 30, size: '+1' }), async (commands) => {
    const model: Model = { worlds: [new Map()] };
    const store = await openFaultyStore(path, ballast);
    try {
      await fc.asyncModelRun(() => ({ model, real: store }), commands);
      await store.reopen();
      await createMended(model, store, everyId);
    } finally {
      await store.remove();
    }
  }),
  { numRuns: 25 },
);
process.stdout.write(JSON.stringify(told));
