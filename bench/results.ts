/** The content of results.json. */
export type Results = Parts & {
  readonly date: string;
  /** The machine that ran the benchmark, in one line. */
  readonly machine: string;
};

/** The parts of the benchmark. */
export type Parts = {
  readonly servers: Part;
  readonly growth: Part;
};

/** A part of the benchmark: contenders that are measured alternately with one baseline. */
export type Part = {
  readonly rounds: number;
  /** The name of the row to which the ratios relate. */
  readonly baseline: string;
  readonly rows: readonly Row[];
};

/** One contender. Metrics that do not apply to it are absent. */
export type Row = {
  readonly name: string;
  /** The baseline, this project, or a peer with the same operation. */
  readonly group?: 'limit' | 'ours' | 'peer' | undefined;
  /** The title of the rows that it belongs to. */
  readonly section?: string | undefined;
  /** By metric. The unit is in the metric's name. */
  readonly figures: Readonly<Record<string, Spread>>;
  /** By metric, as a multiple of the baseline's figure in the same round. */
  readonly ratios: Readonly<Record<string, Spread>>;
};

/** The quartiles of a metric over all rounds. */
export type Spread = { readonly lower: number; readonly median: number; readonly upper: number };

/** Formats results as JSON with one row a line. */
export function stringifyResults(results: Partial<Results>): string {
  return `${JSON.stringify(results, undefined, 1).replaceAll(/\n {3,}(?!\{)/g, '')}\n`;
}
