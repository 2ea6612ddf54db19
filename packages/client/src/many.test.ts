import { describe, expect, it } from 'vitest';
import { createTestClient, errorOf, never, untyped } from '../test/fixtures.ts';
import { collect, endless, plantOf, quickClient, settle, slowClient } from '../test/plants.ts';
import { defaultConcurrency } from './many.ts';
import { createClient, createPlants, type PlantClient } from './index.ts';

describe('createPlants', () => {
  it('createPlants yields each outcome when its call ends, with its index in the source', async () => {
    const { client, finish } = slowClient();
    const collecting = collect(createPlants(client, [1, 2, 3].map(plantOf)));
    await settle();
    for (const id of [3, 1, 2]) finish(id);
    expect((await collecting).map(({ index, newPlant }) => [index, newPlant.id])).toEqual([
      [2, 3],
      [0, 1],
      [1, 2],
    ]);
  });

  it('createPlants accepts an async iterable, and yields each plant with its additional members', async () => {
    async function* lines() {
      yield { ...plantOf(1), line: 10 };
      yield { ...plantOf(2), line: 20 };
    }
    const outcomes = await collect(createPlants(quickClient, lines()));
    expect(outcomes.map(({ newPlant }) => newPlant.line)).toEqual([10, 20]);
  });

  it('createPlants does not delay other plants for a slow one', async () => {
    const { client, finish } = slowClient();
    const createPlant: PlantClient['createPlant'] = (plant, options) =>
      (plant.id === 0 ? client : quickClient).createPlant(plant, options);
    const outcomes = createPlants({ createPlant }, endless().plants, { concurrency: 2 });
    for (let index = 1; index < 100; index += 1)
      expect((await outcomes.next()).value?.index).toBe(index);
    finish(0);
    await settle();
    const indexes = [(await outcomes.next()).value?.index, (await outcomes.next()).value?.index];
    expect(indexes).toContain(0);
    await outcomes.return();
  });

  it('createPlants yields an outcome while the source has no next plant', async () => {
    async function* plants() {
      yield plantOf(1);
      await new Promise(() => undefined);
    }
    const outcomes = createPlants(quickClient, plants());
    expect((await outcomes.next()).value?.result.isOk()).toBe(true);
  });

  it('createPlants reads at most concurrency plants of an endless source ahead', async () => {
    const { seen, plants } = endless();
    const { client, finish, inFlight } = slowClient();
    const outcomes = createPlants(client, plants, { concurrency: 3 });
    const first = outcomes.next();
    await settle();
    expect([seen.taken, inFlight()]).toEqual([3, 3]);
    // The pending next() consumes the first outcome; the second one waits for its consumer.
    for (const id of [1, 2]) finish(id);
    expect((await first).value?.index).toBe(1);
    await settle();
    expect([seen.taken, inFlight()]).toEqual([4, 2]);
    expect((await outcomes.next()).value?.index).toBe(2);
    await settle();
    expect([seen.taken, inFlight()]).toEqual([5, 3]);
    await outcomes.return();
  });

  it('createPlants has a default concurrency of 8', () => {
    expect(defaultConcurrency).toBe(8);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, '3'])(
    'createPlants uses the default concurrency for the invalid value %s',
    async (concurrency) => {
      const { seen, plants } = endless();
      const { client } = slowClient();
      const controller = new AbortController();
      const options = { concurrency: untyped(concurrency), signal: controller.signal };
      const collecting = collect(createPlants(client, plants, options));
      await settle();
      expect(seen.taken).toBe(defaultConcurrency);
      controller.abort();
      await collecting;
    },
  );

  it('createPlants yields errors as outcomes and continues', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 't' });
    const plants = [plantOf(0.5), untyped(null), plantOf(Number.NaN)];
    const kinds = (await collect(createPlants(client, plants))).map(({ result }) =>
      result.isErr() ? result.error.kind : 'created',
    );
    expect(kinds).toEqual(['request-invalid', 'request-invalid', 'request-invalid']);
  });

  it('createPlants yields signal-invalid for each plant if the signal is invalid', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 't' });
    const outcomes = createPlants(client, [plantOf(1)], { signal: untyped({}) });
    const [outcome] = await collect(outcomes);
    expect(outcome?.result._unsafeUnwrapErr()).toMatchObject({ reason: 'signal-invalid' });
  });

  it.each([
    ['aborted', new EventTarget()],
    ['addEventListener', { aborted: false }],
    ['removeEventListener', { aborted: false, addEventListener: () => undefined }],
  ])('createPlants yields signal-invalid for a signal without %s', async (_, wrong) => {
    const client = createTestClient(never);
    const signal = untyped(wrong);
    expect(await errorOf(client, signal)).toMatchObject({ reason: 'signal-invalid' });
    const [outcome] = await collect(createPlants(client, [plantOf(1)], { signal }));
    expect(outcome?.result._unsafeUnwrapErr()).toMatchObject({ reason: 'signal-invalid' });
  });

  it('createPlants can be aborted during an endless source of invalid plants', async () => {
    const controller = new AbortController();
    function* plants() {
      for (;;) yield plantOf(0.5);
    }
    const { signal } = controller;
    const outcomes = createPlants(createTestClient(never), plants(), { signal });
    setTimeout(() => controller.abort());
    for await (const { index } of outcomes) if (index === 100_000) break;
    expect(signal.aborted).toBe(true);
  });
});

describe('createPlants with a client that throws or rejects', () => {
  const broken = new Error('a broken test double');
  const throwing: PlantClient['createPlant'] = () => {
    throw broken;
  };

  it.each<[string, PlantClient['createPlant']]>([
    ['throws', throwing],
    ['rejects', untyped(async () => throwing(plantOf(1)))],
  ])(
    'createPlants rejects with the error of a client that %s, after the other calls have ended',
    async (_, fail) => {
      const unhandled: unknown[] = [];
      const record = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', record);
      const { seen, plants } = endless();
      const { client, inFlight } = slowClient();
      const createPlant: typeof fail = (plant, options) =>
        plant.id === 1 ? fail(plant, options) : client.createPlant(plant, options);
      const outcomes = createPlants({ createPlant }, plants, { concurrency: 3 });
      await expect(outcomes.next()).rejects.toBe(broken);
      expect([seen.isClosed, inFlight()]).toEqual([true, 0]);
      process.off('unhandledRejection', record);
      expect(unhandled).toEqual([]);
    },
  );
});
