import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { type Commit, createGroupCommit, type Created, type Limits } from './group-commit.ts';

const limits = {
  maxWaiting: 100,
  maxWaitingText: 10,
  deadlineMs: 30_000,
  maxBatchPlants: 100,
  maxBatchText: 1_000,
};
const plant = (id: number) => ({ id: BigInt(id), name: 'x' });

/** A lane whose commits succeed when the test calls `finish`, and the sizes of its batches. */
const withGate = () => {
  const gates: (() => void)[] = [];
  const sizes: number[] = [];
  return {
    sizes,
    lane: async (plants: readonly unknown[]) =>
      new Promise<readonly Created[]>((resolve) => {
        sizes.push(plants.length);
        gates.push(() => resolve(plants.map(() => ok())));
      }),
    finish: () => gates.shift()?.(),
  };
};

const startGroup = (lane: Commit, changed: Partial<Limits> = {}) => {
  const { add, drained } = createGroupCommit([lane], { ...limits, ...changed }, () => undefined);
  const create = async (one: NewPlant) => new Promise<Created>((resolve) => add(one, resolve));
  return { create, drained };
};

describe('the group commit', () => {
  it('refuses text beyond its limit at once, counting text in flight', async () => {
    const { lane, finish } = withGate();
    const { create, drained } = startGroup(lane);
    const long = create({ id: 1n, name: 'x'.repeat(11) });
    await nextTurn();
    expect((await create(plant(2)))._unsafeUnwrapErr()).toEqual({
      kind: 'store-unavailable',
      reason: '11 characters are waiting for the database already',
    });
    finish();
    expect((await long).isOk()).toBe(true);
    const next = [create({ id: 2n, name: 'x', tag: 'y'.repeat(8) }), create(plant(3))];
    await nextTurn();
    expect((await create(plant(4))).isErr()).toBe(true);
    finish();
    expect((await Promise.all(next)).every((result) => result.isOk())).toBe(true);
    await drained();
  });

  it('goes on while a plant is committed apart from its batch, and drains with it', async () => {
    const apart = withGate();
    const lane = async (plants: readonly unknown[]) =>
      plants.map(async () => (await apart.lane([undefined]))[0] ?? ok());
    const { create, drained } = startGroup(lane);
    const states = { first: false, drained: false };
    const first = create(plant(1)).then(() => (states.first = true));
    await nextTurn();
    await nextTurn();
    const second = create(plant(2));
    const draining = drained().then(() => (states.drained = true));
    await nextTurn();
    await nextTurn();
    expect(states).toEqual({ first: false, drained: false });
    apart.finish();
    await first;
    apart.finish();
    expect((await second).isOk()).toBe(true);
    await draining;
  });

  it('settles each create at its own deadline, and commits none after it', async () => {
    const { lane, finish, sizes } = withGate();
    const { create, drained } = startGroup(lane, { deadlineMs: 100 });
    const kept = create(plant(1));
    await nextTurn();
    finish();
    expect((await kept).isOk()).toBe(true);
    const began = performance.now();
    const first = create(plant(2));
    await nextTurn();
    const later = sleep(50).then(async () => create(plant(3)));
    expect((await first)._unsafeUnwrapErr()).toEqual({
      kind: 'store-unavailable',
      reason: 'the database did not keep the plant within 100 ms: it is too slow',
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(100);
    expect((await later).isErr()).toBe(true);
    expect(performance.now() - began).toBeGreaterThanOrEqual(149);
    await drained();
    const next = create(plant(4));
    finish();
    await nextTurn();
    finish();
    expect((await next).isOk()).toBe(true);
    expect(sizes).toEqual([1, 1, 1]);
  });
});
