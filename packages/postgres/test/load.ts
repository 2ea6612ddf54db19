import type { NewPlant, PlantRepository } from '@plantstore/core';
import { expect } from 'vitest';
import { runSql } from './shared-postgres.ts';

/** Creates on their way, and what became of them. */
export type Load = {
  /** Plants that were answered `ok`. */
  readonly acknowledged: readonly NewPlant[];
  /** Why creates were not answered. */
  readonly unavailable: readonly string[];
  /** Resolves once so many more plants are acknowledged from now on. */
  readonly progress: (plants: number) => Promise<void>;
  /** Ends when the creates on their way have their answers. */
  readonly stop: () => Promise<void>;
};

const clients = 16;

/** Never the same plant twice, whichever load it is of. */
let next = 0n;

/** Creates plants from several clients at once, and repeats what was not answered. */
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
      for (let told = 'store-unavailable'; told === 'store-unavailable' && !state.isStopped;) {
        const repository = repositories[Number(next) % repositories.length];
        const created = await repository?.create(plant);
        told = created?.isErr() === true ? created.error.kind : 'ok';
        if (told === 'ok') acknowledged.push(plant);
        else if (created?.isErr() && 'reason' in created.error) {
          unavailable.push(created.error.reason);
        } else throw new Error(`wrong answer ${told} to ${id}`);
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

/** Every acknowledged plant is in the database, with its content. */
export const expectKept = async (url: string, plants: readonly NewPlant[]): Promise<void> => {
  const rows = await runSql(url, 'SELECT id::text, name, tag FROM plants');
  const found = new Map(rows.map((row) => [row['id'], row]));
  const missing = plants.filter(({ id, name, tag }) => {
    const row = found.get(String(id));
    return row?.['name'] !== name || row['tag'] !== (tag ?? null);
  });
  expect(missing).toEqual([]);
};
