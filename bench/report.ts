import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Row, Spread } from './rounds.ts';

/** The content of results.json. The first row of a part is its baseline. */
export type Results = {
  readonly date: string;
  /** The machine that ran the benchmark, in one line. */
  readonly machine: string;
  readonly rounds: number;
  readonly servers: readonly Row[];
  readonly growth: readonly Row[];
};

/** Writes the files that contain results. */
export async function writeReport(results: Results): Promise<void> {
  for (const [file, write] of Object.entries(files))
    await writeFile(
      join(root, file),
      await write(await readFile(join(root, file), 'utf8'), results),
    );
}

type Write = (text: string, results: Results) => Promise<string> | string;

/** The files that contain results, with what writes their text from the previous one. */
export const files: Readonly<Record<string, Write>> = {
  'README.md': withResults,
  'docs/benchmarks.md': withResults,
  'docs/benchmarks/cpu.svg': (_, { servers }) => drawCpu(servers),
};

/** Formats results as JSON with one row a line. */
export function stringifyResults(results: Results): string {
  return `${JSON.stringify(results, undefined, 1).replaceAll(/\n {2,}(?!\{)/g, '')}\n`;
}

/** The table of a part as Markdown, with the title of each section in a row of its own. */
export function tableOf(rows: readonly Row[], shown = Object.keys(columns)): string {
  const cells = (row: Row) => shown.map((head) => columns[head]?.(row));
  const lines = rows.flatMap((row, at) => [
    ...(row.section === rows[at - 1]?.section ? [] : [[`**${row.section}**`]]),
    cells(row),
  ]);
  const align = shown.map((_, at) => (at === 0 ? '---' : '--:'));
  return [shown, align, ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

const root = join(import.meta.dirname, '..');

const columns: Readonly<Record<string, (row: Row) => string>> = {
  server: ({ name }) => name,
  'creates per second': median('perSecond'),
  'CPU per request': ratio('cpuUs'),
  throughput: ratio('perSecond'),
  'p99 ms': median('p99', 1),
  'p99.9 ms': median('p999', 1),
  MiB: median('residentMiB'),
  'load, cores': median('loadCores', 2),
};

/** A column with the median of a metric. */
function median(metric: string, digits = 0): (row: Row) => string {
  const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return ({ figures }) => Number(figures[metric]?.median).toLocaleString('en', form);
}

/** A column with a ratio, as "×1.23 (1.20–1.31)". */
function ratio(metric: string): (row: Row) => string {
  const write = ({ median: middle, lower, upper }: Spread) =>
    `×${middle.toFixed(2)} (${lower.toFixed(2)}–${upper.toFixed(2)})`;
  return ({ ratios: { [metric]: spread } }) => (spread === undefined ? '–' : write(spread));
}

/** Replaces the parts of a page between `<!-- bench: name -->` and `<!-- end of bench -->`. */
async function withResults(page: string, results: Results): Promise<string> {
  const { date, machine, rounds, servers, growth } = results;
  const onSqlite = servers.filter(({ section }) => section === 'on SQLite');
  const blocks: Readonly<Record<string, string>> = {
    run: `Measured on ${date.slice(0, 10)}, ${rounds} rounds: ${machine}.`,
    summary: tableOf(onSqlite, Object.keys(columns).slice(0, 3)),
    servers: tableOf(servers),
    growth: tableOf(growth),
  };
  const text = page.replaceAll(
    /(<!-- bench: (\w+) -->)[^]*?(<!-- end of bench -->)/g,
    (_, begin: string, name: string, end: string) => `${begin}\n\n${blocks[name]}\n\n${end}`,
  );
  return format(text, { ...(await resolveConfig(join(root, 'README.md'))), parser: 'markdown' });
}

/** Draws the CPU time per request of each server, as SVG. Narrow enough for a phone. */
function drawCpu(rows: readonly Row[]): string {
  const most = Math.ceil(Math.max(...rows.map(({ ratios }) => Number(ratios['cpuUs']?.upper))));
  const x = (times = 0): string => ((times / most) * 400).toFixed(1);
  const bottom = 75 + rows.length * 38;
  const grid = Array.from({ length: 1 + most / 2 }, (_, at) => at * 2).map(
    (times) =>
      `<path class="grid" d="M${x(times)} 75V${bottom}" />` +
      `<text x="${x(times)}" y="${bottom + 20}" text-anchor="middle">×${times}</text>`,
  );
  const bars = rows.map(({ name, ratios: { cpuUs } }, at) => {
    const group = name.startsWith('ours') ? 'ours' : 'others';
    const y = 103 + at * 38;
    const line = `<path d="M${x(cpuUs?.lower)} ${y}H${x(cpuUs?.upper)}" />`;
    const point = `<circle cx="${x(cpuUs?.median)}" cy="${y}" r="5" />`;
    return `<g class="${group}"><text x="4" y="${y - 10}">${name}</text>${line}${point}</g>`;
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-15 0 430 ${bottom + 30}" width="430">`;
  return [head, style, ...grid, ...bars, '</svg>\n'].join('\n');
}

// An image has the colour scheme of the page that shows it.
const style = `<style>
svg { color-scheme: light dark }
text { font: 13px system-ui, sans-serif; fill: CanvasText }
path { stroke-width: 3 }
.grid { stroke: GrayText; stroke-width: 0.3 }
.ours :not(text) { fill: #1a9850; stroke: #1a9850 }
.others :not(text) { fill: #3b7dd8; stroke: #3b7dd8 }
</style>
<text y="20" font-weight="bold">CPU per request, in times that of a bare node:http server</text>
<text y="42">The point is the median, the line spans the quartiles.</text>`;
