import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import type { CreatePlantError, PlantClient } from '../src/index.ts';

const aborted: CreatePlantError = {
  kind: 'aborted',
  message: 'aborted',
  attempts: 1,
  cause: { name: 'AbortError', message: '' },
};

/** Creates a client whose calls end when the test calls `finish`, or by an abort. */
export const slowClient = () => {
  const waiting = new Map<bigint | number, () => void>();
  let inFlight = 0;
  const client: PlantClient = {
    createPlant: ({ id, name }, { signal } = {}) => {
      const { promise, resolve } = Promise.withResolvers<'created' | 'aborted'>();
      inFlight += 1;
      waiting.set(id, () => resolve('created'));
      signal?.addEventListener('abort', () => resolve('aborted'));
      if (signal?.aborted === true) resolve('aborted');
      return ResultAsync.fromSafePromise(promise).andThen((how) => {
        inFlight -= 1;
        return how === 'created' ? okAsync({ name }) : errAsync(aborted);
      });
    },
  };
  return { client, finish: (id: number) => waiting.get(id)?.(), inFlight: () => inFlight };
};

export const quickClient: PlantClient = { createPlant: ({ name }) => okAsync({ name }) };

export const plantOf = (id: number) => ({ id, name: String(id) });

/** Returns an endless source of plants, its number of plants read, and whether it was closed. */
export const endless = () => {
  const seen = { taken: 0, isClosed: false };
  function* generate() {
    try {
      for (;;) yield plantOf(seen.taken++);
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, plants: generate() };
};

/** Waits until all callbacks that are due have run. */
export const settle = async () => new Promise((resolve) => setTimeout(resolve, 0));

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
