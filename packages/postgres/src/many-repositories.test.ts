import type { NewPlant } from '@plantstore/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { outcomesOf, plantsFrom } from '../test/behind-proxy.ts';
import { open } from '../test/open.ts';
import { startProxy, type StatementAction } from '../test/postgres-proxy.ts';
import { emptyDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import type { PostgresRepository } from './repository.ts';

const openMany = async (url: string, count: number) =>
  Promise.all(Array.from({ length: count }, async () => open(url)));

it('several repositories start at the same time on an empty database, and agree on one of the plants that compete for an id', async () => {
  const url = sharedUrl(await emptyDatabase());
  const repositories = (await openMany(url, 8)).slice(0, 4);
  const rivals = repositories.map((_, at) =>
    Array.from({ length: 250 }, (__, n) => ({ id: BigInt(n % 40), name: `rival ${at} ${n}` })),
  );
  const createAll = async () =>
    (
      await Promise.all(rivals.map(async (plants, at) => outcomesOf(repositories[at]!, plants)))
    ).flat();
  const results = await createAll();
  const winners = rivals.flat().filter((_, index) => results[index] === 'ok');
  expect(new Set(winners.map(({ id }) => id)).size).toBe(40);
  expect(winners.length).toBe(40);
  expect(results.filter((one) => one === 'id-taken').length).toBe(960);
  expect(await createAll()).toEqual(results);
  const rows = await runSql(url, 'SELECT id, name FROM plants ORDER BY id');
  const sorted = winners.toSorted((one, other) => Number(one.id - other.id));
  expect(rows).toEqual(sorted.map(({ id, name }) => ({ id: String(id), name })));
});

it('several repositories do not deadlock when they create the same plants in different orders', async () => {
  const repositories = await openMany(sharedUrl(await emptyDatabase()), 4);
  const plants = plantsFrom(0, 3_000);
  const outcomes = await Promise.all(
    repositories.map(async (repository, index) =>
      outcomesOf(repository, index % 2 === 0 ? plants : plants.toReversed()),
    ),
  );
  expect(new Set(outcomes.flat())).toEqual(new Set(['ok']));
});

const plants: fc.Arbitrary<NewPlant> = fc
  .record({
    id: fc.bigInt(-2n, 2n),
    name: fc.constantFrom('', 'a'),
    tag: fc.constantFrom('', 'a', null),
  })
  .map(({ tag, ...plant }) => (tag === null ? plant : { ...plant, tag }));

const actions = fc.constantFrom<StatementAction>(
  'reset-before',
  'reset-after',
  { error: '40001' },
  { errorAfter: '40003' },
  { error: '57P01', severity: 'FATAL' },
);

/** Faults of the next statements, then a create by a repository. */
const steps = fc.array(
  fc.record({ faults: fc.array(actions, { maxLength: 2 }), plant: plants, at: fc.nat(1) }),
  { maxLength: 20 },
);

it('several repositories agree with one Map, with faults between any two steps', async () => {
  const url = sharedUrl(await emptyDatabase());
  const proxy = await startProxy();
  const repositories: readonly PostgresRepository[] = [
    await open(url),
    await open(proxy.through(url)),
  ];
  const property = fc.asyncProperty(steps, async (taken) => {
    await runSql(url, 'TRUNCATE plants');
    const model = new Map<bigint, NewPlant>();
    const faults: StatementAction[] = [];
    proxy.onStatement(() => faults.shift() ?? 'pass');
    for (const step of taken) {
      faults.push(...step.faults);
      const stored = model.get(step.plant.id) ?? step.plant;
      model.set(step.plant.id, stored);
      const isSame = stored.name === step.plant.name && stored.tag === step.plant.tag;
      const outcome = await outcomesOf(repositories[step.at]!, [step.plant]);
      expect(outcome).toEqual([isSame ? 'ok' : 'id-taken']);
    }
  });
  await fc.assert(property, { numRuns: 20 });
});
