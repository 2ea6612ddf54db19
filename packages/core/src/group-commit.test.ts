import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { err, errAsync, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import {
  type Commit,
  type CommittedBatch,
  createGroupCommit,
  type Created,
  type GroupCommitOptions,
} from './group-commit.ts';
import { readableOnce } from '../test/readable-once.ts';
import { complete } from './contract-plants.ts';
import { createMemoryRepository } from './memory-repository.ts';
import { encodePlant } from './plant-members.ts';
import { describeRepository } from './repository-contract.ts';

const plant = (id: number, name = 'x') => ({ id: BigInt(id), name });

const reasonOf = (created: Created) =>
  created.match(
    () => 'ok',
    (error) => (error.kind === 'store-unavailable' ? error.reason : error.kind),
  );

type Results = Awaited<ReturnType<Commit>>;

/** A lane whose commits end when the test calls `finish`, and the ids of its batches. */
const createManualLane = () => {
  const batches: bigint[][] = [];
  const pending: ((results?: Results) => void)[] = [];
  const lane: Commit = async (plants) => {
    batches.push(plants.map(({ id }) => id));
    return new Promise((resolve) => {
      pending.push((results) => resolve(results ?? plants.map(() => ok())));
    });
  };
  return { batches, lane, finish: (results?: Results) => pending.shift()?.(results) };
};

/** Number of timers that keep the process alive. */
const activeTimers = (): number =>
  process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

const startGroup = (options: Partial<GroupCommitOptions> = {}) => {
  const manual = createManualLane();
  return { ...manual, ...createGroupCommit({ lanes: [manual.lane], ...options }) };
};

describeRepository({ describe, it, expect }, 'a group commit', async () => {
  const plants = new Map<bigint, string>();
  const commit: Commit = async (batch) =>
    batch.map(({ id, ...content }) => {
      const json = encodePlant(content);
      if (!plants.has(id)) plants.set(id, json);
      return plants.get(id) === json ? ok() : err({ kind: 'id-taken', id });
    });
  const options = { lanes: [commit, commit], maxBatchPlants: 10 };
  const reopen = async () => createGroupCommit(options);
  return { repository: createGroupCommit(options), reopen };
});

it.each([
  ['a group commit', createGroupCommit({ lanes: [async (plants) => plants.map(() => ok())] })],
  ['the memory repository', createMemoryRepository()],
])('%s reads each member once, so that it stores what it has checked', async (_, { create }) => {
  expect((await create(readableOnce({ id: 7n, ...complete }))).isOk()).toBe(true);
});

describe('batch', () => {
  it('a batch contains the creates of one turn of the event loop, or those made during a commit', async () => {
    const { batches, create, finish } = startGroup();
    const first = [create(plant(1))];
    await Promise.resolve();
    first.push(create(plant(2)));
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

  it('a batch has at most maxBatchPlants plants, and at most maxBatchText of text unless one plant has more', async () => {
    const { batches, create, finish, close } = startGroup({ maxBatchPlants: 3, maxBatchText: 4 });
    const names = ['xx', 'xx', 'x', 'xxxxx', 'x', '', '', ''];
    const all = names.map(async (name, index) => create(plant(index, name)));
    for (const _batch of names) {
      await nextTurn();
      finish();
    }
    await Promise.all(all);
    await close();
    expect(batches).toEqual([[0n, 1n], [2n], [3n], [4n, 5n, 6n], [7n]]);
  });

  it('a batch is committed at the same time as the batch of another lane', async () => {
    const manualLanes = [createManualLane(), createManualLane()];
    const { create, close } = createGroupCommit({ lanes: manualLanes.map(({ lane }) => lane) });
    const first = create(plant(1));
    await nextTurn();
    const second = create(plant(2));
    await nextTurn();
    expect(manualLanes.map(({ batches }) => batches)).toEqual([[[1n]], [[2n]]]);
    for (const { finish } of manualLanes) finish();
    await Promise.all([first, second]);
    await close();
  });
});

describe('create', () => {
  it('a create does not settle before its commit', async () => {
    const { create, finish } = startGroup();
    let isSettled = false;
    const creating = create(plant(1)).map(() => (isSettled = true));
    await nextTurn();
    await nextTurn();
    expect(isSettled).toBe(false);
    finish();
    await creating;
  });

  it('a create has the result of its own plant', async () => {
    const { create, finish } = startGroup();
    const all = Promise.all([create(plant(1)), create(plant(2)), create(plant(3))]);
    await nextTurn();
    finish([
      ok(),
      err({ kind: 'id-taken', id: 2n }),
      err({ kind: 'store-unavailable', reason: 'full' }),
    ]);
    expect((await all).map(reasonOf)).toEqual(['ok', 'id-taken', 'full']);
  });

  it('a create is unavailable if the commit rejects or has no result for it, and the next one is committed', async () => {
    const thrown = new Error('a bug');
    const outcomes: (() => Promise<Results>)[] = [
      async () => Promise.reject(thrown),
      async () => [],
      async () => [Promise.reject(thrown)],
      async () => [Promise.resolve(undefined)] as unknown as Results,
      // A ResultAsync has no method `catch`.
      async () => [errAsync({ kind: 'id-taken', id: 5n })] as unknown as Results,
      async () => [ok()],
    ];
    const lane: Commit = async () => outcomes.shift()?.() ?? [];
    const { create, close } = createGroupCommit({ lanes: [lane] });
    const broken = { kind: 'store-unavailable', reason: 'the commit did not complete' };
    expect((await create(plant(1)))._unsafeUnwrapErr()).toEqual({ ...broken, cause: thrown });
    expect((await create(plant(2)))._unsafeUnwrapErr()).toStrictEqual(broken);
    expect((await create(plant(3)))._unsafeUnwrapErr()).toEqual({ ...broken, cause: thrown });
    expect((await create(plant(4)))._unsafeUnwrapErr()).toEqual(broken);
    expect(reasonOf(await create(plant(5)))).toBe('id-taken');
    expect((await create(plant(6))).isOk()).toBe(true);
    await close();
  });

  it('a create does not delay others if its result is a promise', async () => {
    const pending: ((created: Created) => void)[] = [];
    const { create, close } = createGroupCommit({
      lanes: [
        async (plants) =>
          plants.map(async ({ id }) =>
            id === 1n ? new Promise<Created>((resolve) => pending.push(resolve)) : ok(),
          ),
      ],
    });
    let isSettled = false;
    const first = create(plant(1)).map(() => (isSettled = true));
    await nextTurn();
    expect((await create(plant(2))).isOk()).toBe(true);
    expect(isSettled).toBe(false);
    const closing = close();
    pending.shift()?.(ok());
    await closing;
    expect((await first).isOk()).toBe(true);
  });

  it('a create keeps the process alive until it settles, and an idle group commit does not', async () => {
    const { create, finish } = startGroup({ deadlineMs: 30_000 });
    for (const id of [1, 2]) {
      const idle = activeTimers();
      const creating = create(plant(id));
      expect(activeTimers()).toBe(idle + 1);
      await nextTurn();
      const busy = activeTimers();
      finish();
      await creating;
      expect(activeTimers()).toBe(busy - 1);
    }
  });

  it('a create is not kept in memory after it settled', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const committed: WeakRef<object>[] = [];
    const { create } = createGroupCommit({
      lanes: [
        async (plants) =>
          plants.map((one) => {
            committed.push(new WeakRef(one));
            return one.id === 1n ? Promise.resolve(ok()) : ok();
          }),
      ],
    });
    for (const id of [1, 2]) await create(plant(id));
    // References of a turn of the event loop are strong until its end.
    await nextTurn();
    collectGarbage();
    expect(committed.map((one) => one.deref())).toEqual([undefined, undefined]);
  });
});

describe('the limits', () => {
  it('a group commit fails a create at once above its limit of creates, counting those in flight', async () => {
    const { create, finish } = startGroup({ maxWaiting: 3 });
    const first = [create(plant(1)), create(plant(2))];
    await nextTurn();
    const third = create(plant(3));
    expect(reasonOf(await create(plant(4)))).toBe('3 creates are waiting for the database already');
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

  it('a group commit has limits of 10,000 creates and 2^28 of text by default', async () => {
    const { create } = startGroup();
    void create(plant(0, 'x'.repeat(2 ** 28)));
    expect(reasonOf(await create(plant(1, 'x')))).toMatch(/characters are waiting/);
    for (let id = 1; id < 10_000; id += 1) void create(plant(id, ''));
    expect(reasonOf(await create(plant(10_000, '')))).toMatch(/10000 creates are waiting/);
  });

  it('a group commit fails a create at once above its limit of text, counting the text in flight, unless no other create waits', async () => {
    const { create, finish, close } = startGroup({ maxWaitingText: 10 });
    const long = create(plant(1, 'x'.repeat(11)));
    await nextTurn();
    expect(reasonOf(await create(plant(2)))).toBe(
      '11 characters are waiting for the database already',
    );
    finish();
    expect((await long).isOk()).toBe(true);
    const next = [create({ ...plant(2), tag: 'y'.repeat(8) }), create(plant(3))];
    await nextTurn();
    expect((await create(plant(4))).isErr()).toBe(true);
    finish();
    expect((await Promise.all(next)).every((result) => result.isOk())).toBe(true);
    await close();
  });
});

describe('deadline', () => {
  it('the deadline settles each create at its own time, and no create is committed after it', async () => {
    const { batches, create, finish, waiting, close } = startGroup({ deadlineMs: 100 });
    const kept = create(plant(1));
    await nextTurn();
    finish();
    expect((await kept).isOk()).toBe(true);
    const began = performance.now();
    const first = create(plant(2));
    await nextTurn();
    const later = sleep(50).then(async () => create(plant(3)));
    expect(reasonOf(await first)).toBe(
      'the database did not keep the plant within 100 ms: it is too slow',
    );
    expect(performance.now() - began).toBeGreaterThanOrEqual(100);
    expect((await later).isErr()).toBe(true);
    expect(performance.now() - began).toBeGreaterThanOrEqual(149);
    const next = create(plant(4));
    finish();
    await nextTurn();
    finish();
    expect((await next).isOk()).toBe(true);
    expect(batches).toEqual([[1n], [2n], [4n]]);
    expect(waiting()).toBe(0);
    await close();
  });

  it.each([
    ['a pending promise', new Promise<Created>(() => {})],
    // As where zone.js has replaced `Promise`.
    ['one of another Promise', runInNewContext('new Promise(() => {})') as Promise<Created>],
  ])('the deadline settles a create whose result is %s', async (_, pending) => {
    const { create } = createGroupCommit({
      lanes: [async (plants) => plants.map(() => pending)],
      deadlineMs: 50,
    });
    expect(reasonOf(await create(plant(1)))).toMatch('within 50 ms');
  });

  it('a group commit leaves no timer once every create has settled', async () => {
    let atDeadline = 0;
    const lastFailure = () => {
      atDeadline = activeTimers();
      return undefined;
    };
    const { create } = startGroup({ deadlineMs: 50, lastFailure });
    expect(reasonOf(await create(plant(1)))).toMatch('it is too slow');
    expect(activeTimers()).toBe(atDeadline - 1);
  });

  it('the deadline of the last plant of a batch is passed to its commit, and its reason has what lastFailure returns', async () => {
    const deadlines: number[] = [];
    const { create } = createGroupCommit({
      lanes: [
        async (_, deadline) => {
          deadlines.push(deadline);
          return new Promise(() => {});
        },
      ],
      deadlineMs: 50,
      lastFailure: () => 'the disk is full',
    });
    const first = create(plant(1));
    const end = performance.now() + 5;
    while (performance.now() < end);
    const began = performance.now();
    expect(reasonOf(await create(plant(2)))).toMatch(/within 50 ms: the disk is full$/);
    expect((await first).isErr()).toBe(true);
    expect(deadlines).toHaveLength(1);
    expect(deadlines[0]).toBeGreaterThanOrEqual(began + 50);
    expect(deadlines[0]).toBeLessThanOrEqual(performance.now());
  });
});

describe('report of a group commit', () => {
  it('a group commit reports how many creates wait, and each commit with the plants that it kept and its time, also if it rejects', async () => {
    const reported: CommittedBatch[] = [];
    const began = performance.now();
    const gate = Promise.withResolvers<void>();
    const { create, waiting } = createGroupCommit({
      lanes: [
        async (plants) => {
          await gate.promise;
          if (plants.length === 1) throw new Error('a bug');
          return plants.map(() => ok());
        },
      ],
      onCommit: (batch) => void reported.push(batch),
    });
    expect(waiting()).toBe(0);
    const first = [create(plant(1)), create(plant(2))];
    await nextTurn();
    const second = create(plant(3));
    expect(waiting()).toBe(3);
    expect(reported).toEqual([]);
    gate.resolve();
    await Promise.all(first);
    expect(reasonOf(await second)).toMatch('did not complete');
    await nextTurn();
    expect(waiting()).toBe(0);
    expect(reported).toEqual([
      { plants: 2, durationMs: expect.any(Number) as unknown },
      { plants: 0, durationMs: expect.any(Number) as unknown },
    ]);
    const elapsedMs = performance.now() - began;
    for (const { durationMs } of reported) expect(durationMs).toBeLessThanOrEqual(elapsedMs);
  });
});

describe('closing a group commit', () => {
  it('closing a group commit waits for every earlier create, and makes later creates unavailable', async () => {
    const { create, close, finish } = startGroup();
    const creating = [create(plant(1))];
    await nextTurn();
    creating.push(create(plant(2)));
    let isClosed = false;
    const closing = close().then(() => {
      isClosed = true;
    });
    expect(reasonOf(await create(plant(3)))).toBe('the database is closed');
    finish();
    await creating[0];
    await nextTurn();
    expect(isClosed).toBe(false);
    finish();
    await closing;
    expect((await Promise.all(creating)).every((result) => result.isOk())).toBe(true);
    await close();
  });
});
