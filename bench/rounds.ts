import { mean, quantile } from 'simple-statistics';
import type { Row, Spread } from './results.ts';

/** The result of one measurement, by metric. */
export type Figures = Readonly<Record<string, number>>;

/** A measurement that runs once per round. */
export type Contender = Pick<Row, 'name' | 'group' | 'section'> & {
  readonly measure: () => Promise<Figures>;
};

/** Options of {@link runRounds}. */
export type RoundOptions = {
  readonly rounds: number;
  /** Number of contenders between two measurements of the baseline. Default: all. */
  readonly betweenBaselines?: number;
};

/**
 * Measures every contender in every round, between two measurements of the baseline, because the speed of
 * a machine drifts. Each round starts with the next contender. Returns the baseline's row, then the others.
 */
export async function runRounds(
  baseline: Contender,
  contenders: readonly Contender[],
  { rounds, betweenBaselines = contenders.length }: RoundOptions,
): Promise<readonly Row[]> {
  const bases: Sample[] = [];
  const samples = new Map(contenders.map((contender) => [contender, [] as Sample[]]));
  const measureBase = async (): Promise<Figures> => {
    const own = await baseline.measure();
    bases.push({ own, before: own, after: own });
    return own;
  };
  for (let round = 0; round < rounds; round += 1) {
    const first = round % contenders.length;
    const inOrder = [...contenders.slice(first), ...contenders.slice(0, first)];
    let before = await measureBase();
    for (let at = 0; at < inOrder.length; at += betweenBaselines) {
      const measured = new Map<Contender, Figures>();
      for (const contender of inOrder.slice(at, at + betweenBaselines))
        measured.set(contender, await contender.measure());
      const after = await measureBase();
      for (const [contender, own] of measured) samples.get(contender)?.push({ own, before, after });
      before = after;
    }
  }
  return [[baseline, bases] as const, ...samples].map(rowOf);
}

type Sample = { readonly own: Figures; readonly before: Figures; readonly after: Figures };

function rowOf([{ name, group, section }, samples]: readonly [Contender, readonly Sample[]]): Row {
  const spreads = (valueOf: (sample: Sample, metric: string) => number) =>
    Object.fromEntries(
      Object.keys(samples[0]?.own ?? {}).map((metric) => [
        metric,
        spreadOf(samples.map((sample) => valueOf(sample, metric))),
      ]),
    );
  const figure = (figures: Figures, metric: string): number => figures[metric] ?? Number.NaN;
  return {
    name,
    group,
    section,
    figures: spreads(({ own }, metric) => figure(own, metric)),
    ratios: spreads(
      ({ own, before, after }, metric) =>
        figure(own, metric) / mean([figure(before, metric), figure(after, metric)]),
    ),
  };
}

function spreadOf(values: number[]): Spread {
  const [lower = Number.NaN, median = Number.NaN, upper = Number.NaN] = quantile(
    values,
    [0.25, 0.5, 0.75],
  );
  return { lower, median, upper };
}
