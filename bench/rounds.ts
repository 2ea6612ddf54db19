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
  /** Number of warm-up rounds, which are not counted. Default: 0. */
  readonly warmUps?: number;
  /** Number of contenders between two measurements of the baseline. Default: all. */
  readonly betweenBaselines?: number;
  /** Called when a contender fails; its further rounds are skipped. Default: the error is thrown. */
  readonly onFailure?: (contender: Contender, error: unknown) => void;
};

type Sample = { readonly own: Figures; readonly before: Figures; readonly after: Figures };

const spreadOf = (values: number[]): Spread => ({
  lower: quantile(values, 0.25),
  median: quantile(values, 0.5),
  upper: quantile(values, 0.75),
});

const rowOf = ({ name, group, section }: Contender, samples: readonly Sample[]): Row => {
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
};

/**
 * Measures every contender in every round, between two measurements of the baseline, because the speed of
 * a machine drifts. Each round starts with the next contender. Returns the baseline's row, then the others.
 */
export const runRounds = async (
  baseline: Contender,
  contenders: readonly Contender[],
  { rounds, warmUps = 0, betweenBaselines = contenders.length, onFailure }: RoundOptions,
): Promise<readonly Row[]> => {
  const bases: Figures[] = [];
  const samples = new Map(contenders.map((contender) => [contender, [] as Sample[]]));
  const fail = (contender: Contender, error: unknown): void => {
    if (onFailure === undefined) throw error;
    onFailure(contender, error);
    samples.delete(contender);
  };
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const first = round % contenders.length;
    const inOrder = [...contenders.slice(first), ...contenders.slice(0, first)];
    let before = await baseline.measure();
    const roundBases = [before];
    for (let at = 0; at < inOrder.length; at += betweenBaselines) {
      const measured: (readonly [Contender, Figures])[] = [];
      for (const contender of inOrder.slice(at, at + betweenBaselines)) {
        if (!samples.has(contender)) continue;
        await contender.measure().then(
          (own) => measured.push([contender, own]),
          (error: unknown) => fail(contender, error),
        );
      }
      const after = await baseline.measure();
      roundBases.push(after);
      if (round >= warmUps)
        for (const [contender, own] of measured)
          samples.get(contender)?.push({ own, before, after });
      before = after;
    }
    if (round >= warmUps) bases.push(...roundBases);
  }
  return [
    rowOf(
      baseline,
      bases.map((own) => ({ own, before: own, after: own })),
    ),
    ...[...samples].map(([contender, own]) => rowOf(contender, own)),
  ];
};
