import { expect, it } from 'vitest';
import type { Measured } from '../measure.ts';
import { costsOf } from './costs.ts';
import type { Round } from './measure-round.ts';

const measured = (perSecond: number, loadCpu: number): Measured => ({
  answers: perSecond,
  perSecond,
  latency: { mean: 1, p50: 1, p99: 1, p999: 1 },
  loadCpu,
  cpuPerRequest: 50,
});

// A batch takes 100 µs and 2 for each plant on HTTP's thread, and 400 µs and 8 for each beside it: of
// the 400, 150 are CPU.
const waves = [1, 256].map((plants) => ({
  plants,
  time: 500 + 10 * plants,
  onHost: 100 + 2 * plants,
  cpuBeside: 150 + 8 * plants,
}));

const quiet: Round = {
  bare: measured(30_000, 0.5),
  // A request takes 50 µs of HTTP and 20 of the client; and both have to wake, 15 µs each.
  nothing: { one: measured(10_000, 0.3), many: measured(20_000, 0.4) },
  alone: { sqlite: waves, postgres: waves },
  points: [],
};

const disturbed: Round = {
  ...quiet,
  nothing: { one: measured(2_000, 0.1), many: measured(9_000, 0.3) },
  alone: {
    sqlite: waves.map((wave) => ({ ...wave, time: wave.time * 3 })),
    postgres: waves.map((wave) => ({ ...wave, time: wave.time * 2 })),
  },
};

it('the costs are those of the quietest round of each part', () => {
  const { front, stores } = costsOf([disturbed, quiet, disturbed], 2);
  expect(front).toEqual({ cores: 2, http: 50, client: 20, wakeUp: 15 });
  expect(stores.sqlite.onHost.fixed).toBeCloseTo(100);
  expect(stores.sqlite.onHost.each).toBeCloseTo(2);
  expect(stores.sqlite.lane.each).toBeCloseTo(8);
});

it('waking is not counted twice, and a slower commit waits that much longer', () => {
  const { stores } = costsOf([quiet], 2);
  expect(stores.sqlite.lane.fixed).toBeCloseTo(150);
  expect(stores.sqlite.lane.wait).toBeCloseTo(400 - 150 - 15);
  expect(stores['postgres, slower'].lane.wait - stores.postgres.lane.wait).toBeCloseTo(5_000);
});

it('each store commits as many batches at a time as it does', () => {
  const { stores } = costsOf([quiet], 2);
  expect([stores.sqlite.lanes, stores.postgres.lanes]).toEqual([1, 2]);
  expect(stores.postgres.maxBatch).toBe(1_000);
});
