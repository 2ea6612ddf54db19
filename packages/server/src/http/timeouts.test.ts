import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTimeouts, undefinedAfterTimeout } from './timeouts.ts';

const never = new Promise<never>(() => {});

describe('timeouts', () => {
  it('a timeout settles as its promise if that settles in time', async () => {
    const timeouts = createTimeouts(60_000);
    const failure = new Error('no');
    expect(await undefinedAfterTimeout(timeouts, Promise.resolve(7))).toBe(7);
    await expect(undefinedAfterTimeout(timeouts, Promise.reject(failure))).rejects.toBe(failure);
  });

  it('a timeout ends each wait after its duration, while others start and stop', async () => {
    const timeouts = createTimeouts(40);
    const startedAt = performance.now();
    const waits = [undefinedAfterTimeout(timeouts, never)];
    await sleep(20);
    waits.push(undefinedAfterTimeout(timeouts, never));
    expect(await undefinedAfterTimeout(timeouts, Promise.resolve('early'))).toBe('early');
    expect(await waits[0]).toBeUndefined();
    expect(performance.now() - startedAt).toBeGreaterThan(39);
    expect(await waits[1]).toBeUndefined();
    expect(performance.now() - startedAt).toBeGreaterThan(59);
    expect(await undefinedAfterTimeout(timeouts, never)).toBeUndefined();
  });

  it('a timeout does not keep the process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
    const before = timers().length;
    const timeouts = createTimeouts(60_000);
    for (const _ of ['once', 'again']) {
      const { promise, resolve } = Promise.withResolvers<string>();
      const waiting = undefinedAfterTimeout(timeouts, promise);
      expect(timers()).toHaveLength(before);
      resolve('done');
      expect(await waiting).toBe('done');
      expect(timers()).toHaveLength(before);
    }
  });
});
