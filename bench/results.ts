/** A figure of several rounds. */
export type Spread = { readonly median: number; readonly least: number; readonly most: number };

/**
 * What bounds everybody (`limit`), this project (`ours`), or what others would use for the same job
 * (`peer`).
 */
export type Group = 'limit' | 'ours' | 'peer';

/** Milliseconds from a request to its answer, each the median of the rounds. */
export type LatencyMs = { readonly p50: number; readonly p99: number; readonly p999: number };

/** One row of the table. What does not apply to it is `null`. */
export type ContenderResult = {
  readonly name: string;
  readonly group: Group;
  /** Requests per second, as a part of the baseline's in the same round. */
  readonly throughput: Spread;
  /** The server process's CPU time for a request, as a multiple of the baseline's. */
  readonly cpu: Spread | null;
  readonly latencyMs: LatencyMs | null;
  /** Median; of this machine on that day, unlike the ratios. */
  readonly perSecond: number;
  /** Cores that the load generator took, at most: far from 1, or it was the bottleneck. */
  readonly loadCores: number | null;
};

/** What everything is a ratio to, over all rounds. */
export type Baseline = {
  readonly name: string;
  readonly perSecond: Spread;
  readonly cpuMicrosecondsPerRequest: Spread;
  readonly latencyMs: LatencyMs;
  readonly loadCores: number;
};

/** Where it was measured. */
export type Machine = {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  /** Whether servers and load had a core each. */
  readonly isPinned: boolean;
  /** `memory` is a tmpfs, on which nothing is durable and the stores' figures mean nothing. */
  readonly storesOn: 'disk' | 'memory';
};

/** How it was measured. */
export type Options = {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** What the names of the contenders had to include. */
  readonly only: string;
};

/** What `pnpm bench` writes as JSON. */
export type Results = {
  readonly date: string;
  readonly machine: Machine;
  readonly options: Options;
  readonly baseline: Baseline;
  readonly contenders: readonly ContenderResult[];
  /** What could not be measured, and why, in a sentence that begins with its name. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** The exact versions of the peers' packages. */
  readonly peerVersions: Readonly<Record<string, string>>;
};
