import type { NewPlant, PlantRepository } from '@plantstore/core';
import { expect } from 'vitest';
import type { PostgresOptions } from '../src/repository.ts';
import { open } from './open.ts';
import { type PostgresProxy, startProxy, type StatementAction } from './postgres-proxy.ts';
import { emptyDatabase, runSql, sharedUrl } from './shared-postgres.ts';

/** Opens a repository on a new database through a proxy. Its statements are those after the start. */
export const openBehindProxy = async (options: Partial<PostgresOptions> = {}) => {
  const proxy = await startProxy();
  const direct = sharedUrl(await emptyDatabase());
  const url = proxy.through(direct);
  const repository = await open(url, options);
  proxy.statements.length = 0;
  return { proxy, direct, url, repository };
};

/** Applies one action to each of the next matching statements. */
export const handleNext = (
  proxy: PostgresProxy,
  pattern: RegExp,
  ...actions: StatementAction[]
) => {
  proxy.onStatement(({ text }) => (pattern.test(text) ? (actions.shift() ?? 'pass') : 'pass'));
};

/** The inserts that were sent. */
export const insertsOf = ({ statements }: PostgresProxy) =>
  statements.filter(({ text }) => text.startsWith('INSERT'));

/** Returns plants with consecutive ids. */
export const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(first + index), name: 'Monstera' }));

/** Creates plants concurrently, and returns `ok` or the kind of the error for each. */
export const outcomesOf = async (repository: PlantRepository, plants: readonly NewPlant[]) => {
  const created = await Promise.all(plants.map(async (plant) => repository.create(plant)));
  return created.map((one) => (one.isOk() ? 'ok' : one.error.kind));
};

export const monstera = { id: 7n, name: 'Monstera', tag: 'climber' };

/** Expects that the plants are in the database with their content. */
export const expectStored = async (url: string, plants: readonly NewPlant[]): Promise<void> => {
  const rows = await runSql(url, 'SELECT id::text, name, tag FROM plants');
  const found = new Map(rows.map((row) => [row['id'], row]));
  const missing = plants.filter(({ id, name, tag }) => {
    const row = found.get(String(id));
    return row?.['name'] !== name || row['tag'] !== (tag ?? null);
  });
  expect(missing).toEqual([]);
};
