import { baseline as bareServer } from './contenders.ts';
import type { Parts, Row, Spread } from './results.ts';

/** Rows of cells. The first row is the header. A row with one cell is the title of a section. */
export type Table = readonly (readonly string[])[];

type Cell = (row: Row) => string;
type Columns = readonly (readonly [head: string, cell: Cell])[];

const integers = new Intl.NumberFormat('en');

/** Formats an integer with thousands separators. */
const many = (number: number): string => integers.format(Math.round(number));

const orNone = (spread: Spread | undefined, write: (spread: Spread) => string): string =>
  spread === undefined ? '–' : write(spread);

const formatSpread = ({ lower, median, upper }: Spread, digits: number): string =>
  `${median.toFixed(digits)} (${lower.toFixed(digits)}–${upper.toFixed(digits)})`;

/** The ratio of a metric, as "×1.23 (1.20–1.31)". */
const ratio =
  (metric: string): Cell =>
  ({ ratios }) =>
    orNone(ratios[metric], (spread) => `×${formatSpread(spread, 2)}`);

/** The figure of a metric, as "123 (120–131)". */
const spread =
  (metric: string, digits = 0): Cell =>
  ({ figures }) =>
    orNone(figures[metric], (figure) => formatSpread(figure, digits));

/** The median of a metric. */
const median =
  (metric: string, digits = 0): Cell =>
  ({ figures }) =>
    orNone(figures[metric], (figure) =>
      digits === 0 ? many(figure.median) : figure.median.toFixed(digits),
    );

const name: Cell = (row) => row.name;

/** The figure of the baseline is the unit of the ratios. */
const cpuOfServer: Cell = (row) =>
  row.name === bareServer.name ? `×1 = ${median('cpuUs')(row)} µs` : ratio('cpuUs')(row);

const columns: Readonly<Record<keyof Parts, Columns>> = {
  servers: [
    ['server', name],
    ['CPU per request', cpuOfServer],
    ['throughput', ratio('perSecond')],
    ['p99 ms', median('p99', 1)],
    ['p99.9 ms', median('p999', 1)],
    ['per second', median('perSecond')],
    ['MiB', median('residentMiB')],
    ['load, cores', median('loadCores', 2)],
  ],
  start: [
    ['start', name],
    ['first response, ms', spread('firstResponseMs')],
    ['over bare', ratio('firstResponseMs')],
    ['at rest, MiB', spread('atRestMiB')],
    ['over bare', ratio('atRestMiB')],
  ],
  idle: [
    ['in memory', name],
    ['an idle connection, KiB', spread('idleKiB', 1)],
    ['over bare', ratio('idleKiB')],
  ],
  client: [
    ['a call', name],
    ['µs', median('wallUs', 1)],
    ['over bare fetch', ratio('wallUs')],
    ['bytes over bare fetch', ratio('allocatedBytes')],
  ],
  growth: [
    ['plants', (row) => many(Number(row.name))],
    ['CPU per request', ratio('cpuUs')],
    ['throughput', ratio('perSecond')],
    ['p99.9 ms', median('p999', 1)],
    ['MiB', median('residentMiB')],
    ['at rest, MiB', median('atRestMiB')],
    ['bytes a plant', median('bytesPerPlant')],
    ['first response, ms', spread('firstResponseMs')],
  ],
  scaling: [
    ['connections', name],
    ['plants per second', spread('perSecond')],
    ['p50 ms', median('p50', 1)],
    ['p99 ms', median('p99', 1)],
  ],
  commands: [
    ['command', name],
    ['time, ms', median('timeMs')],
    ['over its floor', ratio('timeMs')],
    ['CPU, ms', median('cpuMs')],
    ['over its floor', ratio('cpuMs')],
  ],
};

const tableOf = (shown: Columns, rows: readonly Row[]): Table => [
  shown.map(([head]) => head),
  ...[...Map.groupBy(rows, ({ section = '' }) => section)].flatMap(([title, inSection]) => [
    ...(title === '' ? [] : [[title]]),
    ...inSection.map((row) => shown.map(([, cell]) => cell(row))),
  ]),
];

/** The README's servers, which make each plant durable before they respond. */
export const summaryTable = ({ servers }: Pick<Parts, 'servers'>): Table =>
  tableOf(
    [
      ['server', name],
      ['durable creates per second', median('perSecond')],
      ['CPU over a bare server', ratio('cpuUs')],
    ],
    servers.rows.filter(
      (row) => row.section === 'on SQLite' && !/sequential|logging|Hono/.test(row.name),
    ),
  );

/** Bytes per plant in each store. */
export const storageTable = ({ scaling: { storage } }: Pick<Parts, 'scaling'>): Table => [
  ['ids', 'SQLite', 'written to the disk', 'PostgreSQL', 'its WAL'],
  ...storage.map(({ ids, ...bytes }) => [
    ids,
    ...[bytes.sqlite, bytes.sqliteWritten, bytes.postgres, bytes.postgresWal].map(
      (perPlant) => `${many(perPlant)} bytes a plant`,
    ),
  ]),
];

/** The tables of a part. */
export const tablesOf = (part: keyof Parts, results: Parts): readonly Table[] => {
  const table = tableOf(columns[part], results[part].rows);
  if (part === 'scaling') return [table, storageTable(results)];
  if (part !== 'client') return [table];
  const bundles = Object.entries(results.client.bundles);
  const sizes = bundles.map(([client, bytes]) => [client, many(bytes)]);
  return [table, [['in a bundle', 'bytes, minified and gzipped'], ...sizes]];
};

/** Formats a table as Markdown. */
export const asMarkdown = ([heads = [], ...rows]: Table): string =>
  [
    heads,
    heads.map((_, at) => (at === 0 ? '---' : '--:')),
    ...rows.map((cells) => (cells.length === 1 ? [`**${cells[0]}**`] : cells)),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
