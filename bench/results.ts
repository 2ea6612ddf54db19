/** The quartiles of a metric over all rounds. */
export type Spread = { readonly lower: number; readonly median: number; readonly upper: number };

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

/** Bytes per plant of a filled store. */
export type Storage = {
  readonly ids: string;
  /** Size of the SQLite file. */
  readonly sqlite: number;
  /** What SQLite wrote to the disk: the WAL, then the file. */
  readonly sqliteWritten: number;
  /** Size of the PostgreSQL table and its index. */
  readonly postgres: number;
  readonly postgresWal: number;
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
  readonly idle: Part;
  readonly client: Part & {
    /** Minified and gzipped bytes by client. */
    readonly bundles: Readonly<Record<string, number>>;
  };
  readonly growth: Part;
  readonly scaling: Part & { readonly storage: readonly Storage[] };
  /** Compared with the baseline of their section: a program of the database. */
  readonly commands: Part;
};

/** The content of results.json. */
export type Results = Parts & {
  readonly date: string;
  readonly seconds: number;
  /** The machine that ran the benchmark, in one line. */
  readonly machine: string;
};
