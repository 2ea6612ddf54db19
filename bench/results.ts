/** A metric over all rounds. */
export type Spread = { readonly median: number; readonly least: number; readonly most: number };

/** The baseline, this project, or a peer with the same operation. */
export type Group = 'limit' | 'ours' | 'peer';

/** One contender. Metrics that do not apply to it are absent. */
export type Row = {
  readonly name: string;
  readonly group?: Group | undefined;
  /** The title of the rows that it belongs to. */
  readonly section?: string | undefined;
  /** By metric. The unit is in the metric's name. */
  readonly figures: Readonly<Record<string, Spread>>;
  /** By metric, as a multiple of the baseline's figure in the same round. */
  readonly ratios: Readonly<Record<string, Spread>>;
};

/** A part of the benchmark: contenders that are measured alternately with one baseline. */
export type Part = {
  readonly rounds: number;
  /** The name of the row to which the ratios relate. */
  readonly baseline: string;
  readonly rows: readonly Row[];
};

/** The parts of the benchmark. */
export type Parts = {
  readonly servers: Part & {
    readonly connections: number;
    readonly seconds: number;
    /** The contenders that failed, with the reason. */
    readonly leftOut: readonly string[];
    /** The exact versions of the peers' packages. */
    readonly versions: Readonly<Record<string, string>>;
  };
  readonly start: Part;
  readonly client: Part & {
    /** Minified and gzipped bytes by client. */
    readonly bundles: Readonly<Record<string, number>>;
  };
  readonly growth: Part;
};

/** The content of results.json. */
export type Results = Parts & {
  readonly date: string;
  readonly seconds: number;
  /** The machine that ran the benchmark, in one line. */
  readonly machine: string;
};
