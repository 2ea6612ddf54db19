import type { ContenderResult, LatencyMs, Results, Spread } from './results.ts';

const ratio = (spread: Spread | null): string =>
  spread === null
    ? '–'
    : `${spread.median.toFixed(2)} (${spread.least.toFixed(2)}–${spread.most.toFixed(2)})`;

const milliseconds = (latency: LatencyMs | null): string[] =>
  latency === null
    ? ['–', '–', '–']
    : [latency.p50, latency.p99, latency.p999].map((time) => time.toFixed(1));

const heads = [
  'of the baseline',
  'CPU per request',
  'p50 ms',
  'p99 ms',
  'p99.9 ms',
  'per second',
  'load, cores',
];

const row = ({ name, throughput, cpu, latencyMs, perSecond, loadCores }: ContenderResult) => [
  name,
  ratio(throughput),
  ratio(cpu),
  ...milliseconds(latencyMs),
  perSecond.toFixed(0),
  loadCores === null ? '–' : loadCores.toFixed(2),
];

/** Rows of cells as lines, each column as wide as its widest cell. */
export const align = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  return rows.map((cells) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
};

/** The results as a table for a terminal. */
export const tableOf = ({ machine, options, baseline, contenders, leftOut }: Results): string => {
  const { median } = baseline.cpuMicrosecondsPerRequest;
  const inGroups = (['limit', 'ours', 'peer'] as const)
    .map((group) => contenders.filter((contender) => contender.group === group).map(row))
    .filter((rows) => rows.length > 0);
  const base = [
    baseline.name,
    '1',
    `1 (${median.toFixed(0)} µs)`,
    ...milliseconds(baseline.latencyMs),
    baseline.perSecond.median.toFixed(0),
    baseline.loadCores.toFixed(2),
  ];
  const lines = align([['', ...heads], base, ...inGroups.flatMap((rows) => [[''], ...rows])]);
  const pinning = machine.isPinned
    ? 'A core for the server and one for the load; those with SQLite may use both.'
    : 'Servers and load share the cores: there is no taskset here, or one core.';
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}, Node ${machine.node}`,
    `${options.connections} connections; ${options.seconds} s, ${options.rounds} rounds: median (least–most). ${pinning}`,
    'CPU is that of the server process; a database server of its own is not in it. The host logs to a file.',
    ...(machine.storesOn === 'memory'
      ? ['The stores are on a tmpfs, which is no disk: set TMPDIR to a folder on one.']
      : []),
    '',
    ...lines,
    ...leftOut.map(({ why }) => `\nLeft out: ${why}`),
  ].join('\n');
};
