import { baseline } from './contenders.ts';
import { type Load, measure, type Measured, textOf } from './measure.ts';
import type { Baseline, ContenderResult, LatencyMs } from './results.ts';
import { spreadOf } from './spread.ts';

/** One measurement; what does not apply is left out. */
export type Figures = { readonly perSecond: number } & Partial<Measured>;

/** What is measured in each round. */
export type Entry = Pick<ContenderResult, 'name' | 'group' | 'store'> & {
  readonly measure: (load: Load) => Promise<Figures>;
};

type Base = Pick<Measured, 'perSecond' | 'cpuPerRequest'>;

type Sample = { readonly own: Figures; readonly base: Base };

/** The samples of each entry, those of the baseline, and what failed. */
export type Samples = {
  readonly base: readonly Measured[];
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  readonly failed: ReadonlyMap<string, string>;
};

/** The baseline is measured anew after so many, for a machine's speed drifts. */
const entriesBetweenBaselines = 3;

const groupsOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, group) =>
    items.slice(group * size, (group + 1) * size),
  );

const mean = (one: number, other: number): number => (one + other) / 2;

/** What the baseline would have reached between two measurements of it. */
const between = (before: Base, after: Base): Base => ({
  perSecond: mean(before.perSecond, after.perSecond),
  cpuPerRequest: mean(before.cpuPerRequest, after.cpuPerRequest),
});

/**
 * Measures every entry in every round, each round in the other direction, between two measurements of
 * the baseline. An entry that fails is not tried again; the others go on.
 */
export const runRounds = async (
  entries: readonly Entry[],
  load: Load,
  { rounds, tell }: { readonly rounds: number; readonly tell: (text: string) => void },
): Promise<Samples> => {
  const base: Measured[] = [];
  const samples = new Map<string, Sample[]>();
  const failed = new Map<string, string>();
  const measureBase = async (): Promise<Measured> => {
    const measured = await measure(baseline, load);
    base.push(measured);
    return measured;
  };
  const measureEntry = async (entry: Entry): Promise<Figures | undefined> => {
    if (failed.has(entry.name)) return undefined;
    try {
      return await entry.measure(load);
    } catch (thrown) {
      failed.set(entry.name, textOf(thrown));
      tell(`failed: ${textOf(thrown)}`);
      return undefined;
    }
  };
  for (let round = 1; round <= rounds; round += 1) {
    const inOrder = round % 2 === 1 ? entries : entries.toReversed();
    let before = await measureBase();
    for (const group of groupsOf(inOrder, entriesBetweenBaselines)) {
      const measured: { readonly name: string; readonly own: Figures }[] = [];
      for (const entry of group) {
        tell(`round ${round} of ${rounds}: ${entry.name}`);
        const own = await measureEntry(entry);
        if (own !== undefined) measured.push({ name: entry.name, own });
      }
      const after = await measureBase();
      for (const { name, own } of measured)
        samples.set(name, [...(samples.get(name) ?? []), { own, base: between(before, after) }]);
      before = after;
    }
  }
  return { base, samples, failed };
};

const median = (numbers: readonly number[]): number => spreadOf(numbers).median;

const latencyOf = (figures: readonly Figures[]): LatencyMs | null => {
  const told = figures.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
  if (told.length === 0) return null;
  return {
    p50: median(told.map(({ p50 }) => p50)),
    p99: median(told.map(({ p99 }) => p99)),
    p999: median(told.map(({ p999 }) => p999)),
  };
};

/** The row of an entry. */
export const summarize = (
  { name, group, store }: Entry,
  samples: readonly Sample[],
): ContenderResult => {
  const figures = samples.map(({ own }) => own);
  const cpu = samples.flatMap(({ own, base }) =>
    own.cpuPerRequest === undefined ? [] : [own.cpuPerRequest / base.cpuPerRequest],
  );
  const loadCores = figures.flatMap(({ loadCpu }) => (loadCpu === undefined ? [] : [loadCpu]));
  return {
    name,
    group,
    store,
    cpu: cpu.length === 0 ? null : spreadOf(cpu),
    throughput: spreadOf(samples.map(({ own, base }) => own.perSecond / base.perSecond)),
    latencyMs: latencyOf(figures),
    perSecond: median(figures.map(({ perSecond }) => perSecond)),
    loadCores: loadCores.length === 0 ? null : Math.max(...loadCores),
  };
};

/** What the ratios are to. */
export const summarizeBaseline = (base: readonly Measured[]): Baseline => ({
  name: baseline.name,
  perSecond: spreadOf(base.map(({ perSecond }) => perSecond)),
  cpuMicrosecondsPerRequest: spreadOf(base.map(({ cpuPerRequest }) => cpuPerRequest)),
  latencyMs: latencyOf(base) ?? { p50: Number.NaN, p99: Number.NaN, p999: Number.NaN },
  loadCores: Math.max(...base.map(({ loadCpu }) => loadCpu)),
});
