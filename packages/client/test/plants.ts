import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import type { CreatePlantError, PlantClient } from '../src/index.ts';

const aborted: CreatePlantError = {
  kind: 'aborted',
  message: 'aborted',
  attempts: 1,
  cause: { name: 'AbortError', message: '' },
};

/** A client whose calls end when the test says so, or are aborted. */
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

/** Plants without end that count how many were taken, and whether the source was told to end. */
export const endless = () => {
  const seen = { taken: 0, isOver: false };
  function* generate() {
    try {
      for (;;) yield plantOf(seen.taken++);
    } finally {
      seen.isOver = true;
    }
  }
  return { seen, plants: generate() };
};

/** Lets everything happen that waits for nothing but its turn. */
export const settle = async () => new Promise((resolve) => setTimeout(resolve, 0));

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
