import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createDeadline } from './deadline.ts';

const never = new Promise<never>(() => {});

describe('a deadline', () => {
  it('gives what work comes to, and what it fails with', async () => {
    const inTime = createDeadline(60_000);
    const failure = new Error('no');
    expect(await inTime(Promise.resolve(7))).toBe(7);
    await expect(inTime(Promise.reject(failure))).rejects.toBe(failure);
  });

  it('gives up each work in its time, while others begin and end', async () => {
    const inTime = createDeadline(40);
    const began = performance.now();
    const lateOnes = [inTime(never)];
    await sleep(20);
    lateOnes.push(inTime(never));
    expect(await inTime(Promise.resolve('early'))).toBe('early');
    expect(await lateOnes[0]).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThan(39);
    expect(await lateOnes[1]).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThan(59);
    // Nothing of that is left in the way of what comes later.
    expect(await inTime(never)).toBeUndefined();
  });

  it('holds up a process while it waits, and no longer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
    const before = timers().length;
    const inTime = createDeadline(60_000);
    for (const _ of ['once', 'again']) {
      const { promise, resolve } = Promise.withResolvers<string>();
      const waiting = inTime(promise);
      expect(timers()).toHaveLength(before + 1);
      resolve('done');
      expect(await waiting).toBe('done');
      expect(timers()).toHaveLength(before);
    }
  });
});
