// The plots, as vega-lite specifications. vega-lite draws them without a browser, and is fetched when it runs.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import type { Results, Row } from './results.ts';

type Plot = {
  readonly title: string;
  readonly subtitle: string;
  readonly unit: string;
  readonly scale: 'linear' | 'log';
  /** The ends of a server's line and its point, or undefined without figures. */
  readonly range: (row: Row) => readonly (number | undefined)[];
};

/** A line and a point for each server, in the order of the table. */
const specificationOf = (rows: readonly Row[], { title, subtitle, unit, scale, range }: Plot) => ({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: { text: title, subtitle, anchor: 'start' },
  background: 'white',
  padding: 12,
  width: 480,
  config: { font: 'system-ui, sans-serif', axis: { labelLimit: 300, grid: true } },
  data: {
    values: rows.map((row) => {
      const [from, point, to] = range(row);
      return { name: row.name, group: row.group, from, point, to };
    }),
  },
  encoding: {
    y: { type: 'nominal', field: 'name', sort: null, title: null },
    color: {
      type: 'nominal',
      field: 'group',
      title: null,
      scale: { domain: ['limit', 'ours', 'peer'], range: ['#8c959f', '#1a9850', '#3b7dd8'] },
    },
    x: { type: 'quantitative', field: 'from', title: unit, scale: { type: scale } },
  },
  layer: [
    { mark: { type: 'rule', strokeWidth: 3 }, encoding: { x2: { field: 'to' } } },
    { mark: { type: 'circle', size: 90, opacity: 1 }, encoding: { x: { field: 'point' } } },
  ],
});

/** The specification of each plot, by its file in docs/benchmarks. */
export const plotsOf = ({ servers }: Results): Readonly<Record<string, object>> => ({
  'cpu.svg': specificationOf(servers.rows, {
    title: 'CPU per request',
    subtitle: 'The point is the median, the line spans all rounds. Less is better.',
    unit: `times that of ${servers.baseline}`,
    scale: 'linear',
    range: ({ ratios: { cpuUs } }) => [cpuUs?.least, cpuUs?.median, cpuUs?.most],
  }),
});

/** A comment in the SVG that changes with the specification, so that a test can see an outdated plot. */
export const stampOf = (plot: object): string =>
  `<!-- ${createHash('sha256').update(JSON.stringify(plot)).digest('hex')} -->`;

/** Draws a plot as SVG. */
export const draw = async (plot: object): Promise<string> => {
  const running = promisify(execFile)('npx', ['-y', 'pnpm@12', '--silent', 'bench:plot']);
  running.child.stdin?.end(JSON.stringify(plot));
  const { stdout } = await running;
  return `${stampOf(plot)}\n${stdout}\n`;
};
