import { ResultAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createTestClient, never, untyped } from '../test/fixtures.ts';
import { collect, endless, plantOf, quickClient, settle, slowClient } from '../test/plants.ts';
import { createPlants, type PlantClient } from './index.ts';

describe('an abort of createPlants', () => {
  it('an aborted createPlants reads no further plant, yields the outcomes of those read, and ends without an error', async () => {
    const { seen, plants } = endless();
    const { client, finish, inFlight } = slowClient();
    const controller = new AbortController();
    const { signal } = controller;
    const collecting = collect(createPlants(client, plants, { concurrency: 3, signal }));
    await settle();
    finish(1);
    await settle();
    controller.abort();
    const outcomes = await collecting;
    expect(outcomes.map(({ result }) => result.isOk())).toEqual([true, false, false, false]);
    expect([seen, inFlight()]).toEqual([{ taken: 4, isClosed: true }, 0]);
  });

  it('an aborted createPlants yields the abort reason in each outcome', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const collecting = collect(createPlants(createTestClient(never), [plantOf(1)], { signal }));
    await settle();
    controller.abort(new Error('enough'));
    const [outcome] = await collecting;
    const cause = { name: 'Error', message: 'enough' };
    expect(outcome?.result._unsafeUnwrapErr()).toMatchObject({ kind: 'aborted', cause });
  });

  it('an aborted createPlants creates no plant that the source yields afterwards', async () => {
    const next = Promise.withResolvers<ReturnType<typeof plantOf>>();
    async function* plants() {
      yield await next.promise;
    }
    const controller = new AbortController();
    const created: unknown[] = [];
    const createPlant: PlantClient['createPlant'] = (plant, options) => {
      created.push(plant);
      return quickClient.createPlant(plant, options);
    };
    const { signal } = controller;
    const collecting = collect(createPlants({ createPlant }, plants(), { signal }));
    await settle();
    controller.abort();
    expect(await collecting).toEqual([]);
    next.resolve(plantOf(1));
    await settle();
    expect(created).toEqual([]);
  });

  it('createPlants with an already aborted signal reads nothing', async () => {
    const { seen, plants } = endless();
    const outcomes = createPlants(quickClient, plants, { signal: AbortSignal.abort() });
    expect(await collect(outcomes)).toEqual([]);
    expect(seen.taken).toBe(0);
  });

  it('an aborted createPlants does not wait for a source whose next() never settles', async () => {
    async function* stalled() {
      yield plantOf(1);
      await new Promise(() => undefined);
    }
    const controller = new AbortController();
    const outcomes = createPlants(quickClient, stalled(), { signal: controller.signal });
    await outcomes.next();
    const last = outcomes.next();
    controller.abort();
    expect((await last).done).toBe(true);
  });

  it('an aborted createPlants hides the error of a source that throws because of the abort', async () => {
    const controller = new AbortController();
    async function* plants() {
      yield plantOf(1);
      controller.abort();
      controller.signal.throwIfAborted();
    }
    const { client } = slowClient();
    const outcomes = await collect(createPlants(client, plants(), { signal: controller.signal }));
    expect(outcomes.map(({ result }) => result.isErr())).toEqual([true]);
  });

  it('an aborted createPlants hides the error of a source whose return() throws', async () => {
    const controller = new AbortController();
    function* plants() {
      try {
        for (let id = 0; ; id += 1) yield plantOf(id);
      } finally {
        AbortSignal.abort(new Error('cannot close the file')).throwIfAborted();
      }
    }
    const { signal } = controller;
    const outcomes = createPlants(quickClient, plants(), { signal });
    await outcomes.next();
    controller.abort();
    const remaining = await collect(outcomes);
    expect(remaining.every(({ result }) => result.isOk())).toBe(true);
  });

  it('an aborted createPlants does not wait for a source whose return() never settles', async () => {
    const controller = new AbortController();
    async function* plants() {
      try {
        for (let id = 0; ; id += 1) yield plantOf(id);
      } finally {
        await new Promise(() => undefined);
      }
    }
    const { signal } = controller;
    const outcomes = createPlants(quickClient, plants(), { signal });
    await outcomes.next();
    await settle();
    controller.abort();
    const remaining = await collect(outcomes);
    expect(remaining.every(({ result }) => result.isOk())).toBe(true);
  });

  it('an aborted createPlants leaves no listener on the signal', async () => {
    const controller = new AbortController();
    const listeners = new Set<unknown>();
    const { signal } = controller;
    signal.addEventListener = (_: string, listener: unknown) => void listeners.add(listener);
    signal.removeEventListener = (_: string, listener: unknown) => void listeners.delete(listener);
    await collect(createPlants(quickClient, [plantOf(1)], { signal }));
    expect(listeners.size).toBe(0);
  });
});

describe('a consumer of createPlants that stops', () => {
  it('a consumer that stops reading createPlants aborts the calls in flight and ends the source', async () => {
    const { seen, plants } = endless();
    const { client, finish, inFlight } = slowClient();
    const outcomes = createPlants(client, plants, { concurrency: 3 });
    const first = outcomes.next();
    await settle();
    finish(0);
    await first;
    await outcomes.return();
    expect([seen.isClosed, inFlight()]).toEqual([true, 0]);
  });

  it('a consumer that stops reading createPlants waits until the calls in flight have ended', async () => {
    const ending = Promise.withResolvers<never>();
    const createPlant: PlantClient['createPlant'] = (plant) =>
      plant.id === 1 ? quickClient.createPlant(plant) : ResultAsync.fromSafePromise(ending.promise);
    const outcomes = createPlants({ createPlant }, [plantOf(1), plantOf(2)]);
    await outcomes.next();
    let isEnded = false;
    const end = outcomes.return().then(() => (isEnded = true));
    await settle();
    expect(isEnded).toBe(false);
    ending.resolve(untyped({ name: 'a' }));
    await end;
  });

  it('a consumer that stops reading createPlants does not wait for a pending outcome', async () => {
    const { plants } = endless();
    const { client, inFlight } = slowClient();
    const outcomes = createPlants(client, plants, { concurrency: 3 });
    const first = outcomes.next();
    await settle();
    await outcomes.return();
    expect(inFlight()).toBe(0);
    expect((await first).value?.result.isErr()).toBe(true);
    expect(await outcomes.next()).toEqual({ done: true, value: undefined });
  });

  it('a consumer that stops reading createPlants does not wait for a source with a pending next(), and ignores its error', async () => {
    const available = [plantOf(1)];
    const plants = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const value =
            available.shift() ?? (await new Promise<ReturnType<typeof plantOf>>(() => {}));
          return { done: false as const, value };
        },
        return: () => {
          throw new Error('busy');
        },
      }),
    };
    const seen: number[] = [];
    for await (const { index } of createPlants(quickClient, plants)) {
      seen.push(index);
      await settle();
      break;
    }
    expect(seen).toEqual([0]);
  });

  it('a consumer that stops reading createPlants waits for the return() of a source without a pending next(), and receives its error', async () => {
    async function* plants() {
      try {
        for (let id = 0; ; id += 1) yield plantOf(id);
      } finally {
        await settle();
        AbortSignal.abort(new Error('cannot close the file')).throwIfAborted();
      }
    }
    const consume = async () => {
      for await (const _ of createPlants(quickClient, plants(), { concurrency: 1 })) {
        await settle();
        break;
      }
    };
    await expect(consume()).rejects.toThrow('cannot close the file');
  });
});

describe('source of createPlants that throws', () => {
  it('createPlants yields the outcomes of earlier plants, and then rejects with the error of its source', async () => {
    function* plants() {
      yield plantOf(1);
      yield plantOf(2);
      throw new RangeError('the disk is gone');
    }
    const seen: number[] = [];
    const consume = (async () => {
      for await (const { newPlant } of createPlants(quickClient, plants())) seen.push(newPlant.id);
    })();
    await expect(consume).rejects.toThrow('the disk is gone');
    expect(seen).toEqual([1, 2]);
  });

  it('createPlants rejects a source that is not iterable', async () => {
    const outcomes = createPlants(quickClient, untyped(7));
    await expect(outcomes.next()).rejects.toThrow(TypeError);
  });

  it('createPlants rejects a source whose iterator results are not objects, as for await does', async () => {
    const plants = { [Symbol.iterator]: () => ({ next: () => untyped(7) }) };
    await expect(createPlants(quickClient, plants).next()).rejects.toThrow(TypeError);
  });
});
