import type { NewPlant, PlantRepository } from '@plantstore/core';
import { expect } from 'vitest';
import { runSql } from './shared-postgres.ts';

/** Concurrent creates and their results. */
export type Load = {
  /** Acknowledged plants. */
  readonly acknowledged: readonly NewPlant[];
  /** Reasons of creates that were store-unavailable. */
  readonly unavailable: readonly string[];
  /** Resolves once this number of further plants is acknowledged. */
  readonly progress: (plants: number) => Promise<void>;
  /** Stops the load, and resolves when the creates in flight have a result. */
  readonly stop: () => Promise<void>;
};

const clients = 16;

/** Shared by all loads, so that every plant is unique. */
let next = 0n;

/** Creates plants from several concurrent clients, and retries creates that are store-unavailable. */
export const startLoad = (repositories: readonly PlantRepository[]): Load => {
  const acknowledged: NewPlant[] = [];
  const unavailable: string[] = [];
  let waiting: { readonly target: number; readonly resolve: () => void }[] = [];
  const state = { isStopped: false };

  const work = async (client: number) => {
    while (!state.isStopped) {
      const id = next * 7_919n - 500_000n;
      next += 1n;
      const plant = { id, name: `plant ${id}`, ...(id % 2n === 0n && { tag: `of ${client}` }) };
      for (
        let outcome = 'store-unavailable';
        outcome === 'store-unavailable' && !state.isStopped;
      ) {
        const repository = repositories[Number(next) % repositories.length];
        const created = await repository?.create(plant);
        outcome = created?.isErr() === true ? created.error.kind : 'ok';
        if (outcome === 'ok') acknowledged.push(plant);
        else if (created?.isErr() && 'reason' in created.error) {
          unavailable.push(created.error.reason);
        } else throw new Error(`unexpected result ${outcome} for plant ${id}`);
      }
      const reached = waiting.filter(({ target }) => acknowledged.length >= target);
      waiting = waiting.filter((one) => !reached.includes(one));
      for (const { resolve } of reached) resolve();
    }
  };
  const running = Promise.all(Array.from({ length: clients }, async (_, index) => work(index)));

  return {
    acknowledged,
    unavailable,
    progress: async (plants) =>
      Promise.race([
        running.then(() => {}),
        new Promise<void>((resolve) => {
          waiting.push({ target: acknowledged.length + plants, resolve });
        }),
      ]),
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
