import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import { describe, expect, it } from 'vitest';
import {
  type Commit,
  type CommitResult,
  createGroupCommit,
  type Created,
  type Limits,
} from './group-commit.ts';

const plant = (id: number) => ({ id: BigInt(id), name: 'x' });
const limits = { maxWaiting: 100, maxWaitingText: 1_000, maxBatchText: 1_000 };
const committed: CommitResult = { kind: 'committed', taken: new Set() };

/** A commit that ends when the test says so, and tells of the batches that it was given. */
const withGate = () => {
  const batches: bigint[][] = [];
  const gates: ((result: CommitResult) => void)[] = [];
  return {
    batches,
    commit: async (plants: readonly { id: bigint }[]) => {
      batches.push(plants.map(({ id }) => id));
      return new Promise<CommitResult>((resolve) => gates.push(resolve));
    },
    finish: (result: CommitResult = committed) => gates.shift()?.(result),
  };
};

const startGroup = (commit: Commit, changed: Partial<Limits> = {}) => {
  const { add, drained } = createGroupCommit(commit, { ...limits, ...changed });
  const create = async (one: NewPlant) => new Promise<Created>((resolve) => add(one, resolve));
  return { create, drained };
};

describe('the group commit', () => {
  it('commits together what comes in one turn, and next what comes meanwhile', async () => {
    const { batches, commit, finish } = withGate();
    const { create } = startGroup(commit);
    const first = [create(plant(1)), create(plant(2))];
    await nextTurn();
    const second = [create(plant(3)), create(plant(4)), create(plant(5))];
    await nextTurn();
    expect(batches).toEqual([[1n, 2n]]);
    finish();
    await Promise.all(first);
    await nextTurn();
    expect(batches).toEqual([
      [1n, 2n],
      [3n, 4n, 5n],
    ]);
    finish();
    expect((await Promise.all(second)).every((result) => result.isOk())).toBe(true);
  });

  it('answers nobody before the commit', async () => {
    const { commit, finish } = withGate();
    const { create } = startGroup(commit);
    let answered = false;
    const creating = create(plant(1)).then(() => {
      answered = true;
    });
    await nextTurn();
    await nextTurn();
    expect(answered).toBe(false);
    finish();
    await creating;
  });

  it('tells each plant of a batch what became of it', async () => {
    const { commit, finish } = withGate();
    const { create } = startGroup(commit);
    const all = Promise.all([create(plant(1)), create(plant(2)), create(plant(3))]);
    await nextTurn();
    finish({ kind: 'committed', taken: new Set([1]) });
    const [one, two, three] = await all;
    expect([one?.isOk(), three?.isOk()]).toEqual([true, true]);
    expect(two?._unsafeUnwrapErr()).toEqual({ kind: 'id-taken', id: 2n });
  });

  it('fails a whole batch with its reason, and goes on with the next', async () => {
    const { commit, finish } = withGate();
    const { create } = startGroup(commit);
    const failing = create(plant(1));
    await nextTurn();
    const next = create(plant(2));
    finish({ kind: 'failed', reason: 'the disk is full' });
    expect((await failing)._unsafeUnwrapErr()).toEqual({
      kind: 'store-unavailable',
      reason: 'the disk is full',
    });
    await nextTurn();
    finish();
    expect((await next).isOk()).toBe(true);
  });

  it('answers also when a commit throws, and goes on with the next', async () => {
    const thrown = new Error('a fault of ours');
    let commits = 0;
    const { create, drained } = startGroup(async () => {
      commits += 1;
      if (commits === 1) throw thrown;
      return committed;
    });
    expect((await create(plant(1)))._unsafeUnwrapErr()).toEqual({
      kind: 'store-unavailable',
      reason: 'the commit came to nothing',
      cause: thrown,
    });
    expect((await create(plant(2))).isOk()).toBe(true);
    await drained();
  });

  it('refuses at once what is too much, counting what is in flight', async () => {
    const { commit, finish } = withGate();
    const { create } = startGroup(commit, { maxWaiting: 3 });
    const first = [create(plant(1)), create(plant(2))];
    await nextTurn();
    const third = create(plant(3));
    expect((await create(plant(4)))._unsafeUnwrapErr()).toEqual({
      kind: 'store-unavailable',
      reason: '3 creates are waiting for the disk already',
    });
    finish();
    await Promise.all(first);
    const fifth = create(plant(5));
    await nextTurn();
    finish();
    await nextTurn();
    finish();
    expect((await third).isOk()).toBe(true);
    expect((await fifth).isOk()).toBe(true);
  });

  it('refuses at once what is too much text, counting what is in flight', async () => {
    const { commit, finish } = withGate();
    const { create, drained } = startGroup(commit, { maxWaitingText: 10 });
    const long = create({ id: 1n, name: 'x'.repeat(11) });
    await nextTurn();
    expect((await create(plant(2)))._unsafeUnwrapErr()).toEqual({
      kind: 'store-unavailable',
      reason: '11 characters are waiting for the disk already',
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

  it('commits no more text at a time than it may, unless one plant has it', async () => {
    const { batches, commit, finish } = withGate();
    const { create, drained } = startGroup(commit, { maxBatchText: 4 });
    const names = ['xx', 'xx', 'x', 'xxxxx', 'x'];
    const all = names.map(async (name, index) => create({ id: BigInt(index), name }));
    for (const _batch of names) {
      await nextTurn();
      finish();
    }
    await Promise.all(all);
    await drained();
    expect(batches).toEqual([[0n, 1n], [2n], [3n], [4n]]);
  });

  it('is drained when every create has its result', async () => {
    const { commit, finish } = withGate();
    const { create, drained } = startGroup(commit);
    await drained();
    const creating = [create(plant(1))];
    await nextTurn();
    creating.push(create(plant(2)));
    let isDrained = false;
    const draining = drained().then(() => {
      isDrained = true;
    });
    finish();
    await creating[0];
    expect(isDrained).toBe(false);
    await nextTurn();
    finish();
    await Promise.all([...creating, draining]);
  });
});
