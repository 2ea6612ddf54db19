// Creates plants while faults occur between and during creates, and compares each result with a Map.
// Arguments: folder, "small" if the folder is a disk of 2 MB that the test may fill.
import { join } from 'node:path';
import type { NewPlant } from '@plantstore/core';
import { runsAll } from '@plantstore/test-support/sample';
import fc from 'fast-check';
import { type FaultyStore, openFaultyStore } from './faulty-store.ts';
import { narrow, type Outcome, type Contents } from './possible-contents.ts';

const [folder = '', disk] = process.argv.slice(2);
const path = join(folder, 'plants.db');
const ballast = disk === 'small' ? join(folder, 'ballast') : undefined;

type Model = { candidates: readonly Contents[] };
type Fault = keyof FaultyStore['faults'];
type Step = fc.AsyncCommand<Model, FaultyStore>;

const counts = { ok: 0, 'id-taken': 0, 'store-unavailable': 0 };

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
        if (kind === 'plant-refused')
          throw new Error('a repository without an admission policy refused a plant');
        return kind;
      },
    ),
  );
  if (meanwhile !== undefined) await store.faults[meanwhile]();
  const outcomes = await Promise.all(creating);
  for (const outcome of outcomes) counts[outcome] += 1;
  model.candidates = narrow(model.candidates, plants, outcomes);
  return outcomes;
};

/** Repairs every fault, and checks that creates succeed again. */
const createAfterRepair = async (model: Model, store: FaultyStore, plants: readonly NewPlant[]) => {
  store.repair();
  // The first create after a fault can still report it.
  const outcomes = await create(model, store, plants);
  if (!outcomes.includes('store-unavailable')) return;
  store.repair();
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
const somePlants = fc.array(aPlant, { minLength: 1, maxLength: 8 });
const aFault = fc.constantFrom<Fault>(
  'kill the thread',
  'crash the thread',
  'remove the WAL',
  'move the file',
  'lock the file',
  'fill the disk',
  'repair',
);

const step = (text: string, run: Step['run']): Step => ({
  check: () => true,
  run,
  toString: () => text,
});
const idsOf = (plants: readonly NewPlant[]): string => plants.map(({ id }) => id).join(' ');

const steps: fc.Arbitrary<Step>[] = [
  somePlants.map((plants) =>
    step(
      `create ${idsOf(plants)}`,
      async (model, store) => void (await create(model, store, plants)),
    ),
  ),
  fc.tuple(somePlants, aFault).map(([plants, fault]) =>
    step(`create ${idsOf(plants)}, meanwhile ${fault}`, async (model, store) => {
      await create(model, store, plants, fault);
    }),
  ),
  somePlants.map((plants) =>
    step(`repair, create ${idsOf(plants)}`, async (model, store) =>
      createAfterRepair(model, store, plants),
    ),
  ),
  aFault.map((fault) => step(fault, async (_, store) => store.faults[fault]())),
  fc.constant(step('reopen', async (_, store) => store.reopen())),
];

const everyId = [0n, 1n, 2n, 3n, 4n].map((id) => ({ id, name: 'another content' }));

await fc.assert(
  fc.asyncProperty(fc.commands(steps, { maxCommands: 30, size: '+1' }), async (commands) => {
    const model: Model = { candidates: [new Map()] };
    const store = await openFaultyStore(path, ballast);
    try {
      await fc.asyncModelRun(() => ({ model, real: store }), commands);
      await store.reopen();
      await createAfterRepair(model, store, everyId);
    } finally {
      await store.remove();
    }
  }),
  { numRuns: runsAll ? 15 : 3 },
);
process.stdout.write(JSON.stringify(counts));
