import { setTimeout as sleep } from 'node:timers/promises';
import { createGroupCommit } from '@plantstore/core/group-commit';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { type Front, predict, type Store } from './model.ts';

const front: Front = { cores: 2, wakeUp: 15, client: 20, http: 50 };

const oneLane: Store = {
  onHost: { fixed: 60, each: 3 },
  lane: { wait: 200, fixed: 100, each: 8 },
  lanes: 1,
  maxBatch: Number.POSITIVE_INFINITY,
};
const twoLanes: Store = {
  onHost: { fixed: 200, each: 6 },
  lane: { wait: 200, fixed: 300, each: 6 },
  lanes: 2,
  maxBatch: 1_000,
};
const slowBy = (store: Store, microseconds: number): Store => ({
  ...store,
  lane: { ...store.lane, wait: store.lane.wait + microseconds },
});

const counts = [1, 2, 4, 16, 64, 256, 1_024];

describe.each([
  ['a lane', oneLane],
  ['two lanes', twoLanes],
  ['a slow disk', slowBy(oneLane, 20_000)],
])('the model of a store with %s', (_, store) => {
  it.each(counts)('keeps %i connections busy: throughput times latency (Little)', (connections) => {
    const { perSecond, meanLatencyMs } = predict(front, store, connections);
    expect((perSecond * meanLatencyMs) / 1e3 / connections).toBeCloseTo(1, 1);
  });

  it('gives no connection less than its own costs', () => {
    const { wait, fixed, each } = store.lane;
    const inStore = store.onHost.fixed + store.onHost.each + wait + fixed + each;
    const { meanLatencyMs } = predict(front, store, 1);
    // Each side is woken once by the other, and HTTP's thread once by the store.
    expect(meanLatencyMs * 1e3).toBeCloseTo(front.http + front.client + inStore + 3 * front.wakeUp);
  });

  it('never has less throughput with more connections', () => {
    const told = counts.map((connections) => predict(front, store, connections).perSecond);
    for (const [index, perSecond] of told.entries())
      expect(perSecond).toBeGreaterThan((told[index - 1] ?? 0) * 0.98);
  });

  it('has no more throughput than its busiest thread, or its cores, can do', () => {
    const onHost = front.http + store.onHost.each;
    const onCores = (front.client + onHost + store.lane.each) / front.cores;
    for (const connections of counts)
      expect(predict(front, store, connections).perSecond).toBeLessThan(
        (1e6 / Math.max(onHost, onCores)) * 1.01,
      );
  });
});

it.each([
  ['a lane', oneLane],
  ['two lanes', twoLanes],
])('a store with %s loses less by a slower disk the more connections there are', (_, store) => {
  const kept = [1, 16, 256, 1_024].map(
    (connections) =>
      predict(front, slowBy(store, 5_000), connections).perSecond /
      predict(front, store, connections).perSecond,
  );
  expect(kept).toEqual(kept.toSorted((one, other) => one - other));
  expect(kept[0]).toBeLessThan(0.2);
  expect(kept.at(-1)).toBeGreaterThan(0.9);
});

// So little that it does not count, but all clients have sent before HTTP has read the first.
const nearlyFree: Front = { cores: 2, wakeUp: 0, client: 0, http: 1 };
const disk = { onHost: { fixed: 0, each: 0 }, lane: { wait: 20_000, fixed: 0, each: 0 } };

it('a full batch leaves the rest to the next lane', () => {
  const of = (lanes: number) =>
    Math.round(predict(nearlyFree, { ...disk, lanes, maxBatch: 4 }, 8).perSecond);
  expect([of(1), of(2), of(3)]).toEqual([200, 400, 400]);
});

type Plant = { readonly id: bigint; readonly name: string };

/** Clients that each wait for an answer before the next create, for a second. */
const perSecondOf = async (
  create: (plant: Plant) => Promise<unknown>,
  connections: number,
): Promise<number> => {
  const began = performance.now();
  let created = 0;
  const converse = async () => {
    while (performance.now() - began < 1_000) {
      created += 1;
      await create({ id: BigInt(created), name: 'Monstera' });
    }
  };
  await Promise.all(Array.from({ length: connections }, converse));
  return (created * 1e3) / (performance.now() - began);
};

describe('the group commit, on a disk that takes 20 ms', () => {
  const commit = async (plants: readonly unknown[]) => {
    await sleep(20);
    return plants.map(() => ok());
  };

  it.each([
    [1, 1e6, 1],
    [1, 1e6, 8],
    [1, 1e6, 64],
    [1, 8, 16],
    [2, 8, 16],
  ])(
    '%i lanes, batches of %d, %i connections: they get what the model says',
    async (lanes, maxBatch, connections) => {
      const { create } = createGroupCommit({
        lanes: Array.from({ length: lanes }, () => commit),
        maxBatchPlants: maxBatch,
      });
      const { perSecond } = predict(nearlyFree, { ...disk, lanes, maxBatch }, connections);
      const part = (await perSecondOf(async (one) => create(one), connections)) / perSecond;
      // A busy machine is late, and a timer may be a millisecond early.
      expect(part).toBeGreaterThan(0.4);
      expect(part).toBeLessThan(1.1);
    },
  );
});
