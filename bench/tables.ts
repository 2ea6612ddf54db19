import type {
  Clients,
  ContenderResult,
  Core,
  CoreRow,
  Growth,
  LatencyMs,
  Machine,
  Servers,
  Spread,
  Starts,
  StoreKind,
} from './results.ts';
import { inWords } from './spread.ts';

/** Rows of cells. The first row has the heads; a row of one cell is the title of a section. */
export type Table = readonly (readonly string[])[];

const none = '–';
const times = (spread: Spread | null): string => (spread === null ? none : `×${inWords(spread)}`);
const count = new Intl.NumberFormat('en');
/** A number of things, with its thousands apart. */
export const many = (number: number): string => count.format(Math.round(number));

const columnsOf = (table: Table): readonly number[] =>
  (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));

/** Aligned lines, for a terminal. */
export const asText = (table: Table): string => {
  const widths = columnsOf(table);
  const lines = table.map((row) =>
    row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    ),
  );
  return lines.map((cells) => cells.join('  ').trimEnd()).join('\n');
};

/** Markdown. */
export const asMarkdown = ([heads = [], ...rows]: Table): string => {
  const line = heads.map((_, at) => (at === 0 ? '---' : '--:'));
  const section = ([title = '']: readonly string[]) => [`**${title}**`];
  return [heads, line, ...rows.map((cells) => (cells.length === 1 ? section(cells) : cells))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
};

/** Where something was measured, in a line. */
export const machineInWords = ({ cpu, cores, memoryGiB, os, node, storesOn }: Machine): string =>
  [
    `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}, Node ${node.replace('v', '')}`,
    ...(storesOn === 'memory'
      ? ['the stores on a tmpfs, which is no disk (set TMPDIR to a folder on one)']
      : []),
  ].join('; ');

const milliseconds = (latency: LatencyMs | null): string[] =>
  latency === null
    ? [none, none, none]
    : [latency.p50, latency.p99, latency.p999].map((time) => time.toFixed(1));

const serverRow = (row: ContenderResult): string[] => [
  row.name,
  times(row.cpu),
  times(row.throughput),
  ...milliseconds(row.latencyMs),
  many(row.perSecond),
  row.loadCores === null ? none : row.loadCores.toFixed(2),
];

const titles: readonly (readonly [StoreKind | undefined, string])[] = [
  [undefined, 'limits of this machine'],
  ['memory', 'HTTP alone, in memory'],
  ['sqlite', 'on SQLite'],
  ['postgres', 'on PostgreSQL'],
];

/** Servers by store, each group with its title, in the order of the report. */
export const sectionsOf = <T extends Pick<ContenderResult, 'store'>>(servers: readonly T[]) =>
  titles
    .map(([store, title]) => ({ title, rows: servers.filter((server) => server.store === store) }))
    .filter(({ rows }) => rows.length > 0);

/** Every server: the baseline, then each section. */
export const serversTable = ({ baseline, contenders }: Servers): Table => [
  [
    'server',
    'CPU per request',
    'throughput',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'per second',
    'load, cores',
  ],
  [
    baseline.name,
    `×1 = ${baseline.cpuMicrosecondsPerRequest.median.toFixed(0)} µs`,
    '×1',
    ...milliseconds(baseline.latencyMs),
    many(baseline.perSecond.median),
    baseline.loadCores.toFixed(2),
  ],
  ...sectionsOf(contenders).flatMap(({ title, rows }) => [[title], ...rows.map(serverRow)]),
];

/** The start of the host and of the bare server. */
export const startTable = ({ host, bare, timeRatio, memoryRatio }: Starts): Table => [
  ['start', 'first answer, ms', 'at rest, MiB'],
  ['bare node:http', inWords(bare.firstAnswerMs, 0), inWords(bare.residentMiB, 0)],
  ['plantstore-server, sqlite', inWords(host.firstAnswerMs, 0), inWords(host.residentMiB, 0)],
  ['the one over the other', times(timeRatio), times(memoryRatio)],
];

/** A table for every way to call, and the weight in a bundle. */
export const clientTables = ({ baseline, settings, bundles }: Clients): readonly Table[] => [
  ...settings.map(({ title, rows }) => [
    [title, 'µs', `over ${baseline}`, 'CPU µs', 'CPU over it', 'KiB allocated', 'KiB over it'],
    ...rows.map((row) => [
      row.name,
      row.wallUs.median.toFixed(1),
      times(row.wallRatio),
      row.cpuUs.median.toFixed(1),
      times(row.cpuRatio),
      (row.allocatedBytes.median / 1_024).toFixed(1),
      times(row.allocatedRatio),
    ]),
  ]),
  [
    ['in a bundle', 'bytes, minified and gzipped'],
    ...Object.entries(bundles).map(([name, bytes]) => [name, many(bytes)]),
  ],
];

/** Every validator. */
export const coreTable = ({ baseline, plants, faulty }: Core): Table => {
  const cells = ({ perSecond, ratio }: CoreRow): string[] => [
    `${many(perSecond.median / 1_000)} k/s`,
    times(ratio),
  ];
  return [
    ['validation', 'plants', `over ${baseline}`, 'faulty', `faulty over ${baseline}`],
    ...plants.map((row) => [
      row.name,
      ...cells(row),
      ...faulty.filter(({ name }) => name === row.name).flatMap(cells),
    ]),
  ];
};

/** Every size of a store. */
export const growthTable = ({ small, steps }: Growth): Table => [
  [
    'plants',
    'µs a create',
    `over ${many(small)}`,
    'CPU over it',
    'longest wave',
    'resident',
    'host at rest',
    'file a plant',
    'open, ms',
    'first answer, ms',
    'over a new file',
  ],
  ...steps.map((step) => [
    many(step.plants),
    inWords(step.perCreate, 0),
    times(step.perCreateRatio),
    times(step.cpuRatio),
    `${step.longestWaveMs.toFixed(0)} ms`,
    `${step.residentMiB.toFixed(0)} MiB`,
    `${step.hostResidentMiB.median.toFixed(0)} MiB`,
    `${step.bytesPerPlant.toFixed(0)} B`,
    inWords(step.openMs, 0),
    inWords(step.firstAnswerMs, 0),
    times(step.firstAnswerRatio),
  ]),
];
