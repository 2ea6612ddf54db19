import { setImmediate as nextTurn } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createGroupCommit, type Created } from './group-commit.ts';

const limits = {
  maxWaiting: 100,
  maxWaitingText: 10,
  deadlineMs: 30_000,
  maxBatchPlants: 100,
  maxBatchText: 1_000,
};
const plant = (id: number) => ({ id: BigInt(id), name: 'x' });

/** A lane whose commits succeed when the test says so. */
const withGate = () => {
  const gates: (() => void)[] = [];
  return {
    lane: async (plants: readonly unknown[]) =>
      new Promise<readonly Created[]>((resolve) => {
        gates.push(() => resolve(plants.map(() => ok())));
      }),
    finish: () => gates.shift()?.(),
  };
};

describe('the group commit', () => {
  it('refuses text beyond its limit at once, counting text in flight', async () => {
    const { lane, finish } = withGate();
    const { create, drained } = createGroupCommit([lane], limits, () => undefined);
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
    const { create, drained } = createGroupCommit([lane], limits, () => undefined);
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
});
