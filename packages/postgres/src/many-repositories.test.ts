import type { NewPlant } from '@plantstore/core';
import fc from 'fast-check';
import { runsAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { open } from '../test/open.ts';
import { startProxy, type StatementAction } from '../test/postgres-proxy.ts';
import { emptyDatabase, runSql, sharedUrl } from '../test/shared-postgres.ts';
import type { PostgresRepository } from './repository.ts';

const openMany = async (url: string, count: number) =>
  Promise.all(Array.from({ length: count }, async () => open(url)));

describe('several repositories on one database', () => {
  it('several repositories on one database can start at the same time on an empty database', async () => {
    for (let round = 0; round < (runsAll ? 5 : 1); round += 1) {
      await openMany(sharedUrl(await emptyDatabase()), 8);
    }
  });

  it('several repositories on one database create exactly one of the plants that compete for an id, and agree on which', async () => {
    const url = sharedUrl(await emptyDatabase());
    const repositories = await openMany(url, 4);
    const rivals = Array.from({ length: 2_000 }, (_, index) => ({
      id: BigInt(index % 40),
      name: `rival ${index}`,
    }));
    const createAll = async () =>
      Promise.all(
        rivals.map(async (plant, index) =>
          (await repositories[index % repositories.length]?.create(plant))?.match(
            () => 'ok',
            ({ kind }) => kind,
          ),
        ),
      );
    const results = await createAll();
    const winners = rivals.filter((_, index) => results[index] === 'ok');
    expect(new Set(winners.map(({ id }) => id)).size).toBe(40);
    expect(winners.length).toBe(40);
    expect(results.filter((one) => one === 'id-taken').length).toBe(1_960);
    expect(await createAll()).toEqual(results);
    const rows = await runSql(url, 'SELECT id, name FROM plants ORDER BY id');
    const sorted = winners.toSorted((one, other) => Number(one.id - other.id));
    expect(rows).toEqual(sorted.map(({ id, name }) => ({ id: String(id), name })));
  });

  it('several repositories on one database do not deadlock when they create the same plants in different orders', async () => {
    const repositories = await openMany(sharedUrl(await emptyDatabase()), 4);
    const plants = Array.from({ length: 3_000 }, (_, index) => ({
      id: BigInt(index),
      name: 'Monstera',
    }));
    const results = await Promise.all(
      repositories.flatMap((repository, index) =>
        (index % 2 === 0 ? plants : plants.toReversed()).map(async (plant) =>
          repository.create(plant),
        ),
      ),
    );
    expect(results.every((one) => one.isOk())).toBe(true);
  });
});

const ids = fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -1n, 0n, 1n, 2n);
const texts = fc.oneof(
  fc.constantFrom('', ' ', 'e\u0301', '\u00e9', 'NULL', '{}', '"', '\\', '🪴', 'null'),
  fc
    .array(fc.integer({ min: 1, max: 0x10ffff }), { maxLength: 5 })
    .map((points) => String.fromCodePoint(...points).toWellFormed()),
);
const plants: fc.Arbitrary<NewPlant> = fc
  .record({ id: ids, name: texts, tag: texts }, { requiredKeys: ['id', 'name'] })
  .map(({ tag, ...plant }) => (tag === undefined ? plant : { ...plant, tag }));

const actions = fc.constantFrom<StatementAction>(
  'reset-before',
  'reset-after',
  { error: '40001' },
  { errorAfter: '40003' },
  { error: '57P01', severity: 'FATAL' },
);

type Model = Map<bigint, Omit<NewPlant, 'id'>>;
type Real = {
  readonly repositories: readonly PostgresRepository[];
  readonly fail: (how: StatementAction) => void;
};

const create = (plant: NewPlant, repository: number): fc.AsyncCommand<Model, Real> => ({
  check: () => true,
  toString: () => `create(${fc.stringify(plant)}) at ${repository}`,
  async run(model, { repositories }) {
    const { id, ...content } = plant;
    const stored = model.get(id) ?? content;
    model.set(id, stored);
    const expected = stored.name === content.name && stored.tag === content.tag ? 'ok' : 'id-taken';
    const created = await repositories[repository]?.create(plant);
    expect(created?.isErr() === true ? created.error.kind : 'ok').toBe(expected);
  },
});

const fail = (how: StatementAction): fc.AsyncCommand<Model, Real> => ({
  check: () => true,
  toString: () => `fail(${fc.stringify(how)})`,
  run: async (_, real) => real.fail(how),
});

it('several repositories agree with one Map, with faults between any two steps', async () => {
  const url = sharedUrl(await emptyDatabase());
  const proxy = await startProxy();
  const repositories = [await open(url), await open(proxy.through(url))];
  const steps = fc.commands(
    [
      fc.tuple(plants, fc.nat(1)).map(([plant, repository]) => create(plant, repository)),
      actions.map(fail),
    ],
    { maxCommands: 40 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      await runSql(url, 'TRUNCATE plants');
      const faults: StatementAction[] = [];
      proxy.onStatement(() => faults.shift() ?? 'pass');
      const setup = () => ({
        model: new Map() as Model,
        real: { repositories, fail: (how: StatementAction) => void faults.push(how) },
      });
      await fc.asyncModelRun(setup, commands);
    }),
    { numRuns: runsAll ? 50 : 20 },
  );
});
