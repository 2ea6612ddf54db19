import { describe, expect, it } from 'vitest';
import { untyped } from '../test/fixtures.ts';
import { collect, endless, plantOf, quickClient, settle, slowClient } from '../test/plants.ts';
import { createPlants } from './index.ts';

describe('an abort of createPlants', () => {
  it('reads nothing more, yields what was read, and ends without an error', async () => {
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
    expect([seen, inFlight()]).toEqual([{ taken: 4, isOver: true }, 0]);
  });

  it('reads nothing at all when it came before', async () => {
    const { seen, plants } = endless();
    const outcomes = createPlants(quickClient, plants, { signal: AbortSignal.abort() });
    expect(await collect(outcomes)).toEqual([]);
    expect(seen.taken).toBe(0);
  });

  it('does not wait for a source that does not answer', async () => {
    async function* silent() {
      yield plantOf(1);
      await new Promise(() => undefined);
    }
    const controller = new AbortController();
    const outcomes = createPlants(quickClient, silent(), { signal: controller.signal });
    await outcomes.next();
    const last = outcomes.next();
    controller.abort();
    expect((await last).done).toBe(true);
  });

  it('hides that the source throws because of it', async () => {
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

  it('hides that the source throws at its own end', async () => {
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
    const left = await collect(outcomes);
    expect(left.every(({ result }) => result.isOk())).toBe(true);
  });

  it('does not wait for a source that never has done with ending', async () => {
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
    const left = await collect(outcomes);
    expect(left.every(({ result }) => result.isOk())).toBe(true);
  });

  it('finds no listener left behind', async () => {
    const controller = new AbortController();
    const left = new Set<unknown>();
    const { signal } = controller;
    signal.addEventListener = (_: string, listener: unknown) => void left.add(listener);
    signal.removeEventListener = (_: string, listener: unknown) => void left.delete(listener);
    await collect(createPlants(quickClient, [plantOf(1)], { signal }));
    expect(left.size).toBe(0);
  });
});

describe('who stops taking from createPlants', () => {
  it('ends the calls in flight and the source', async () => {
    const { seen, plants } = endless();
    const { client, finish, inFlight } = slowClient();
    const outcomes = createPlants(client, plants, { concurrency: 3 });
    const first = outcomes.next();
    await settle();
    finish(0);
    await first;
    await outcomes.return();
    expect([seen.isOver, inFlight()]).toEqual([true, 0]);
  });

  it('is not kept waiting by an outcome that is still to come', async () => {
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

  it('is not kept waiting by a source that owes a plant, nor thrown what that throws', async () => {
    const given = [plantOf(1)];
    const plants = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const value = given.shift() ?? (await new Promise<ReturnType<typeof plantOf>>(() => {}));
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

  it('waits for the end of a source that owes nothing, and is thrown what it throws', async () => {
    async function* plants() {
      try {
        for (let id = 0; ; id += 1) yield plantOf(id);
      } finally {
        await settle();
        AbortSignal.abort(new Error('cannot close the file')).throwIfAborted();
      }
    }
    const taking = async () => {
      for await (const _ of createPlants(quickClient, plants(), { concurrency: 1 })) {
        await settle();
        break;
      }
    };
    await expect(taking()).rejects.toThrow('cannot close the file');
  });
});

describe('a source that throws', () => {
  it('has the outcomes of what it gave before, and is thrown then', async () => {
    function* plants() {
      yield plantOf(1);
      yield plantOf(2);
      throw new RangeError('the disk is gone');
    }
    const seen: number[] = [];
    const taking = (async () => {
      for await (const { newPlant } of createPlants(quickClient, plants())) seen.push(newPlant.id);
    })();
    await expect(taking).rejects.toThrow('the disk is gone');
    expect(seen).toEqual([1, 2]);
  });

  it('is thrown where it cannot be iterated over', async () => {
    const outcomes = createPlants(quickClient, untyped(7));
    await expect(outcomes.next()).rejects.toThrow(TypeError);
  });

  it('is thrown where its results are no objects, as in a loop', async () => {
    const plants = { [Symbol.iterator]: () => ({ next: () => untyped(7) }) };
    await expect(createPlants(quickClient, plants).next()).rejects.toThrow(TypeError);
  });
});
