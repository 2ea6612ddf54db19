import type { NewPlant, PlantRepository } from '@plantstore/core';
import { expect } from 'vitest';
import { runSql } from './shared-postgres.ts';

/** Shared by all loads, so that every plant is unique. */
let next = 0n;

/** Creates plants from several concurrent clients, and retries creates that are store-unavailable. */
export const startLoad = (repositories: readonly PlantRepository[]) => {
  const acknowledged: NewPlant[] = [];
  const unavailable: string[] = [];
  const state = { isStopped: false };

  const work = async (client: number) => {
    for (let repository = client; !state.isStopped;) {
      const id = next * 7_919n - 500_000n;
      next += 1n;
      const plant = { id, name: `plant ${id}`, ...(id % 2n === 0n && { tag: `of ${client}` }) };
      for (let isCreated = false; !isCreated && !state.isStopped; repository += 1) {
        const created = await repositories[repository % repositories.length]!.create(plant);
        isCreated = created.isOk();
        if (created.isOk()) acknowledged.push(plant);
        else if ('reason' in created.error) unavailable.push(created.error.reason);
        else throw new Error(`unexpected result ${created.error.kind} for plant ${id}`);
      }
    }
  };
  const running = Promise.all(Array.from({ length: 16 }, async (_, index) => work(index)));

  return {
    acknowledged,
    /** Reasons of creates that were store-unavailable. */
    unavailable,
    /** Resolves once this number of further plants is acknowledged. */
    progress: async (plants: number) => {
      const target = acknowledged.length + plants;
      await expect.poll(() => acknowledged.length, { interval: 10 }).toBeGreaterThanOrEqual(target);
    },
    /** Stops the load, and resolves when the creates in flight have a result. */
    stop: async () => {
      state.isStopped = true;
      await running;
    },
  };
};

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
