import { expect, it } from 'vitest';
import { type Entry, runRounds, summarize } from './rounds.ts';

const load = { connections: 2, seconds: 0.5, warmUpSeconds: 0.5 };

const entryOf = (name: string, measure: Entry['measure']): Entry => ({
  name,
  group: 'peer',
  measure,
});

it('an entry that fails is told and not tried again, and the others go on', async () => {
  let tries = 0;
  const broken = entryOf('broken', async () => {
    tries += 1;
    throw new Error('broken: for a reason');
  });
  const whole = entryOf('whole', async () => ({ perSecond: 1_000 }));
  const told: string[] = [];
  const { base, samples, failed } = await runRounds([broken, whole], load, {
    rounds: 2,
    tell: (text) => told.push(text),
  });
  expect(failed).toEqual(new Map([['broken', 'broken: for a reason']]));
  expect(told).toContain('failed: broken: for a reason');
  expect(tries).toBe(1);
  expect(samples.get('whole')).toHaveLength(2);
  expect(base).toHaveLength(4);
});

it('every entry is between two measurements of the baseline, to whose mean it is a ratio', async () => {
  const whole = entryOf('whole', async () => ({ perSecond: 1_000, cpuPerRequest: 50 }));
  const { base, samples } = await runRounds([whole], load, { rounds: 1, tell: () => {} });
  const [before, after] = base;
  const mean = ((before?.perSecond ?? 0) + (after?.perSecond ?? 0)) / 2;
  const { throughput, cpu } = summarize(whole, samples.get('whole') ?? []);
  expect(throughput.median).toBeCloseTo(1_000 / mean);
  expect(cpu?.median).toBeCloseTo(
    100 / ((before?.cpuPerRequest ?? 0) + (after?.cpuPerRequest ?? 0)),
  );
});

it('a row has the median, the least and the most of its rounds, and null for what does not apply', () => {
  const base = { perSecond: 1_000, cpuPerRequest: 10 };
  const samples = [100, 400, 200].map((perSecond) => ({ own: { perSecond }, base }));
  expect(
    summarize(
      entryOf('a disk', async () => ({ perSecond: 1 })),
      samples,
    ),
  ).toEqual({
    name: 'a disk',
    group: 'peer',
    throughput: { median: 0.2, least: 0.1, most: 0.4 },
    cpu: null,
    latencyMs: null,
    perSecond: 200,
    loadCores: null,
  });
});
