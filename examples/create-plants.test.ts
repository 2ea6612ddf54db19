import type { CreatePlantError, PlantClient } from '@plantstore/client';
import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createPlants } from './create-plants.ts';

const aborted: CreatePlantError = {
  kind: 'aborted',
  message: 'the call was aborted',
  attempts: 1,
  cause: { name: 'AbortError', message: '' },
};

/** Creates a client whose calls end when the test calls `finish`, or by an abort. */
const slowClient = () => {
  const waiting = new Map<bigint | number, () => void>();
  const client: PlantClient = {
    createPlant: ({ id, name }, { signal } = {}) => {
      const { promise, resolve } = Promise.withResolvers<'created' | 'aborted'>();
      waiting.set(id, () => resolve('created'));
      signal?.addEventListener('abort', () => resolve('aborted'));
      if (signal?.aborted === true) resolve('aborted');
      return ResultAsync.fromSafePromise(promise).andThen((how) => {
        waiting.delete(id);
        return how === 'created' ? okAsync({ name }) : errAsync(aborted);
      });
    },
  };
  return { client, finish: (id: number) => waiting.get(id)?.(), inFlight: () => waiting.size };
};

/** Returns an endless source of plants, the number of plants read, and whether it was closed. */
const endless = () => {
  const seen = { taken: 0, isClosed: false };
  function* generate() {
    try {
      for (;;) {
        const id = seen.taken++;
        yield { id, name: `${id}` };
      }
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, plants: generate() };
};

/** Waits until all callbacks that are due have run. */
const settle = async () => new Promise((resolve) => setTimeout(resolve, 0));

describe('createPlants of the recipe', () => {
  it('createPlants yields each outcome when its call ends, with its index in the source', async () => {
    const { client, finish } = slowClient();
    const plants = [1, 2, 3].map((id) => ({ id, name: `${id}`, line: id * 10 }));
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { index, newPlant, result } of createPlants(client, plants))
        seen.push([index, newPlant.line, result.isOk()]);
    })();
    await settle();
    for (const id of [3, 1, 2]) {
      finish(id);
      await settle();
    }
    await reading;
    expect(seen).toEqual([
      [2, 30, true],
      [0, 10, true],
      [1, 20, true],
    ]);
  });

  it('createPlants has 8 calls in flight, and reads one plant of an endless source ahead', async () => {
    const { client, finish, inFlight } = slowClient();
    const { seen, plants } = endless();
    const outcomes = createPlants(client, plants);
    const first = outcomes.next();
    await settle();
    expect([seen.taken, inFlight()]).toEqual([8, 8]);
    for (const id of [0, 1, 2, 3]) finish(id);
    await first;
    await settle();
    // One outcome was consumed, and three wait for their consumer.
    expect([seen.taken, inFlight()]).toEqual([9, 5]);
    await outcomes.return();
    expect(seen.isClosed).toBe(true);
  });

  it('createPlants yields the outcomes of the calls that an abort ends, and reads no further', async () => {
    const { client, inFlight } = slowClient();
    const { seen, plants } = endless();
    const controller = new AbortController();
    const indexes: number[] = [];
    const reading = (async () => {
      for await (const { index, result } of createPlants(client, plants, controller.signal)) {
        expect(result.isErr()).toBe(true);
        indexes.push(index);
      }
    })();
    await settle();
    controller.abort();
    await reading;
    expect(indexes.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect([seen.isClosed, inFlight()]).toEqual([true, 0]);
  });

  it('createPlants creates nothing if its signal has already aborted', async () => {
    const { client, inFlight } = slowClient();
    const { seen, plants } = endless();
    const outcomes = createPlants(client, plants, AbortSignal.abort());
    expect(await outcomes.next()).toEqual({ done: true, value: undefined });
    expect([seen.isClosed, inFlight()]).toEqual([true, 0]);
  });

  it('a break of the loop closes the source and aborts the calls in flight, without waiting for them', async () => {
    const { client, finish, inFlight } = slowClient();
    const { seen, plants } = endless();
    setTimeout(finish, 0, 0);
    for await (const { index } of createPlants(client, plants)) {
      expect([index, inFlight()]).toEqual([0, 7]);
      break;
    }
    await settle();
    expect([seen.isClosed, inFlight()]).toEqual([true, 0]);
  });

  it('createPlants leaves no listener on its signal', async () => {
    const controller = new AbortController();
    const listeners = new Set<unknown>();
    const { signal } = controller;
    signal.addEventListener = (_: string, listener: unknown) => void listeners.add(listener);
    signal.removeEventListener = (_: string, listener: unknown) => void listeners.delete(listener);
    const client: PlantClient = { createPlant: ({ name }) => okAsync({ name }) };
    for await (const { index } of createPlants(client, [{ id: 1, name: 'a' }], signal))
      expect(index).toBe(0);
    expect(listeners.size).toBe(0);
  });
});
