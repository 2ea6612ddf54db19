/** What several rounds came to. */
export type Spread = { readonly median: number; readonly least: number; readonly most: number };

/**
 * What bounds everybody (`limit`), this project (`ours`), or what others would use for the same job
 * (`peer`).
 */
export type Group = 'limit' | 'ours' | 'peer';

/** Where a measured server keeps plants. */
export type StoreKind = 'memory' | 'sqlite' | 'postgres';

/** Milliseconds from a request to its answer, each the median of the rounds. */
export type LatencyMs = { readonly p50: number; readonly p99: number; readonly p999: number };

/** A server under load. What does not apply to it is `null`. */
export type ContenderResult = {
  readonly name: string;
  readonly group: Group;
  /** Absent for the limits. */
  readonly store?: StoreKind | undefined;
  /** The server process's CPU time for a request, as a multiple of the baseline's. */
  readonly cpu: Spread | null;
  /** Requests per second, as a part of the baseline's in the same round. */
  readonly throughput: Spread;
  readonly latencyMs: LatencyMs | null;
  /** Median; of this machine on that day, unlike the ratios. */
  readonly perSecond: number;
  /** Cores that the load generator took, at most: far from 1, or it was the bottleneck. */
  readonly loadCores: number | null;
};

/** What the servers' figures are ratios to, over all rounds. */
export type Baseline = {
  readonly name: string;
  readonly perSecond: Spread;
  readonly cpuMicrosecondsPerRequest: Spread;
  readonly latencyMs: LatencyMs;
  readonly loadCores: number;
};

/** Every server under the same load. */
export type Servers = {
  readonly options: {
    readonly rounds: number;
    readonly seconds: number;
    readonly warmUpSeconds: number;
    readonly connections: number;
  };
  readonly baseline: Baseline;
  readonly contenders: readonly ContenderResult[];
  /** What could not be measured, and why, in a sentence that begins with its name. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** The exact versions of the peers' packages. */
  readonly peerVersions: Readonly<Record<string, string>>;
};

/** From the command to the first answer, and the memory a second later. */
export type StartCost = { readonly firstAnswerMs: Spread; readonly residentMiB: Spread };

/** The host's start, and that of a bare server, in turn. */
export type Starts = {
  readonly rounds: number;
  readonly host: StartCost;
  readonly bare: StartCost;
  /** The host's over the bare server's of the same round. */
  readonly timeRatio: Spread;
  readonly memoryRatio: Spread;
};

/** One client in one setting, for each call, and over bare fetch in the same round. */
export type ClientRow = {
  readonly name: string;
  readonly wallUs: Spread;
  readonly cpuUs: Spread;
  readonly allocatedBytes: Spread;
  readonly wallRatio: Spread;
  readonly cpuRatio: Spread;
  readonly allocatedRatio: Spread;
};

/** How the calls are made. */
export type ClientSetting = {
  readonly title: string;
  readonly atATime: number;
  readonly isInjected: boolean;
};

/** The same call by every client. */
export type Clients = {
  readonly rounds: number;
  /** What the ratios are to. */
  readonly baseline: string;
  readonly settings: readonly (ClientSetting & { readonly rows: readonly ClientRow[] })[];
  /** Minified and gzipped bytes by client. */
  readonly bundles: Readonly<Record<string, number>>;
};

/** One validator: inputs a second, and that over the baseline's in the same round. */
export type CoreRow = {
  readonly name: string;
  readonly perSecond: Spread;
  readonly ratio: Spread;
};

/** Validation of plants, and of what is none and has two faults. */
export type Core = {
  readonly rounds: number;
  /** What the ratios are to. */
  readonly baseline: string;
  readonly plants: readonly CoreRow[];
  readonly faulty: readonly CoreRow[];
};

/** A store of some size, beside a small one that does the same in turn with it. */
export type GrowthStep = {
  readonly plants: number;
  readonly fillSeconds: number;
  /** Microseconds for each create. */
  readonly perCreate: Spread;
  readonly perCreateRatio: Spread;
  readonly cpuRatio: Spread;
  /** The slowest wave, in milliseconds: the one that waits for a checkpoint. */
  readonly longestWaveMs: number;
  /** Of the process that has created all windows so far, 64 at a time, SQLite's cache included. */
  readonly residentMiB: number;
  /** Of a host on this file that has nothing to do. */
  readonly hostResidentMiB: Spread;
  readonly bytesPerPlant: number;
  /** Milliseconds until the store is open, and until the host on it has answered. */
  readonly openMs: Spread;
  readonly firstAnswerMs: Spread;
  /** The latter over that of a host on a new file. */
  readonly firstAnswerRatio: Spread;
};

/** A store that grows. */
export type Growth = {
  readonly rounds: number;
  /** Plants in the small store that the ratios are to. */
  readonly small: number;
  readonly steps: readonly GrowthStep[];
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

/** What can be measured alone. */
export type Parts = {
  readonly servers: Servers;
  readonly start: Starts;
  readonly client: Clients;
  readonly core: Core;
  readonly growth: Growth;
};

/** When and where. */
export type Run = { readonly date: string; readonly seconds: number; readonly machine: Machine };

/** What `pnpm bench` writes as JSON. */
export type Results = Run & Parts;
