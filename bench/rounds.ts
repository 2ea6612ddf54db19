import { quantile } from 'simple-statistics';

/** Who is measured. */
export type Contender = {
  readonly name: string;
  /** The title of the rows that it belongs to. */
  readonly section?: string | undefined;
};

/** The results of a contender, by metric. The unit is in the metric's name. */
export type Row = Contender & {
  readonly figures: Readonly<Record<string, Spread>>;
  /** As multiples of the baseline's figures. */
  readonly ratios: Readonly<Record<string, Spread>>;
};

/** The quartiles of all rounds. */
export type Spread = { readonly lower: number; readonly median: number; readonly upper: number };

/** The result of one measurement, by metric. */
export type Figures = Readonly<Record<string, number>>;

/**
 * Measures every contender once a round, each directly after the baseline, which is the first of them, because the speed
 * of a machine drifts. Returns the row of each.
 */
export async function runRounds<T extends Contender>(
  [baseline, ...contenders]: readonly T[],
  rounds: number,
  measure: (contender: T) => Promise<Figures>,
): Promise<readonly Row[]> {
  if (baseline === undefined) return [];
  const empty = (): Samples => ({ figures: [], ratios: [] });
  const rows = new Map([baseline, ...contenders].map((one) => [one, empty()]));
  const add = (contender: T, figures: Figures, base: Figures) => {
    rows.get(contender)?.figures.push(figures);
    const ratios = Object.entries(figures).map(([metric, own]) => [
      metric,
      own / Number(base[metric]),
    ]);
    rows.get(contender)?.ratios.push(Object.fromEntries(ratios) as Figures);
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders) {
      const base = await measure(baseline);
      add(baseline, base, base);
      add(contender, await measure(contender), base);
    }
  }
  return [...rows].map(([{ name, section }, { figures, ratios }]) => ({
    name,
    section,
    figures: spreadsOf(figures),
    ratios: spreadsOf(ratios),
  }));
}

type Samples = { readonly figures: Figures[]; readonly ratios: Figures[] };

function spreadsOf(samples: readonly Figures[]): Record<string, Spread> {
  const spreads = Object.keys(samples[0] ?? {}).map((metric) => {
    const values = samples.map((one) => Number(one[metric]));
    const [lower, median, upper] = [0.25, 0.5, 0.75].map((part) => quantile(values, part));
    return [metric, { lower, median, upper }] as const;
  });
  return Object.fromEntries(spreads) as Record<string, Spread>;
}
