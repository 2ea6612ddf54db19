import { baseline } from './contenders.ts';
import type { Parts, Row, Spread } from './results.ts';

/** The table of a part, as Markdown. */
export function tableOf(part: keyof Parts, { rows }: Pick<Parts[keyof Parts], 'rows'>): string {
  return asMarkdown(columns[part], rows);
}

/** The README's servers, which make each plant durable before they respond. */
export function summaryTable({ rows }: Pick<Parts['servers'], 'rows'>): string {
  return asMarkdown(
    [
      ['server', name],
      ['durable creates per second', median('perSecond')],
      ['CPU over a bare server', ratio('cpuUs')],
    ],
    rows.filter((row) => row.section === 'on SQLite' && !/sequential|logging|Hono/.test(row.name)),
  );
}

type Cell = (row: Row) => string;
type Columns = readonly (readonly [head: string, cell: Cell])[];

const name: Cell = (row) => row.name;

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
  growth: [
    ['plants', (row) => formatNumber(Number(row.name))],
    ['CPU per request', ratio('cpuUs')],
    ['throughput', ratio('perSecond')],
    ['p99.9 ms', median('p999', 1)],
    ['MiB', median('residentMiB')],
    ['at rest, MiB', median('atRestMiB')],
    ['bytes a plant', median('bytesPerPlant')],
    ['first response, ms', spread('firstResponseMs')],
  ],
};

/** The figure of the baseline is the unit of the ratios. */
function cpuOfServer(row: Row): string {
  return row.name === baseline.name ? `×1 = ${median('cpuUs')(row)} µs` : ratio('cpuUs')(row);
}

/** The ratio of a metric, as "×1.23 (1.20–1.31)". */
function ratio(metric: string): Cell {
  return ({ ratios }) => orNone(ratios[metric], (found) => `×${formatSpread(found, 2)}`);
}

/** The figure of a metric, as "123 (120–131)". */
function spread(metric: string): Cell {
  return ({ figures }) => orNone(figures[metric], (found) => formatSpread(found, 0));
}

/** The median of a metric. */
function median(metric: string, digits = 0): Cell {
  return ({ figures }) => orNone(figures[metric], (found) => formatNumber(found.median, digits));
}

function orNone(found: Spread | undefined, write: (found: Spread) => string): string {
  return found === undefined ? '–' : write(found);
}

function formatSpread(found: Spread, digits: number): string {
  const [lower, middle, upper] = [found.lower, found.median, found.upper].map((number) =>
    number.toFixed(digits),
  );
  return `${middle} (${lower}–${upper})`;
}

/** Formats a number with thousands separators. */
function formatNumber(number: number, digits = 0): string {
  return number.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** A table with the title of each section in a row of its own. */
function asMarkdown(shown: Columns, rows: readonly Row[]): string {
  const sections = Map.groupBy(rows, ({ section = '' }) => section);
  return [
    shown.map(([head]) => head),
    shown.map((_, at) => (at === 0 ? '---' : '--:')),
    ...[...sections].flatMap(([title, inSection]) => [
      ...(title === '' ? [] : [[`**${title}**`]]),
      ...inSection.map((row) => shown.map(([, cell]) => cell(row))),
    ]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
