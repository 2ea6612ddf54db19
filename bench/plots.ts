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

/** A name with a line and a point below it for each server, in the order of the table. Narrow enough for a phone. */
const specificationOf = (rows: readonly Row[], { title, subtitle, unit, scale, range }: Plot) => ({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: {
    text: title,
    subtitle: subtitle.split(/(?<=[.,]) /),
    anchor: 'start',
    fontSize: 16,
    subtitleFontSize: 13,
    offset: 12,
  },
  background: 'transparent',
  padding: 8,
  width: 400,
  height: { step: 38 },
  config: {
    font: 'system-ui, sans-serif',
    axis: { grid: true, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal' },
    legend: { orient: 'top', labelFontSize: 13 },
  },
  data: {
    values: rows.map((row) => {
      const [from, point, to] = range(row);
      return { name: row.name, group: row.group, from, point, to };
    }),
  },
  encoding: {
    y: { type: 'nominal', field: 'name', sort: null, axis: null },
    color: {
      type: 'nominal',
      field: 'group',
      title: null,
      scale: { domain: ['limit', 'ours', 'peer'], range: ['#818b98', '#1a9850', '#3b7dd8'] },
    },
    x: { type: 'quantitative', field: 'from', title: unit, scale: { type: scale } },
  },
  layer: [
    { mark: { type: 'rule', strokeWidth: 3, yOffset: 9 }, encoding: { x2: { field: 'to' } } },
    {
      mark: { type: 'circle', size: 90, opacity: 1, yOffset: 9 },
      encoding: { x: { field: 'point' } },
    },
    {
      mark: { type: 'text', align: 'left', fontSize: 13, dx: 4, dy: -8 },
      encoding: { x: { value: 0 }, text: { field: 'name' }, color: { value: 'black' } },
    },
  ],
});

/** The specification of each plot, by its file in docs/benchmarks. */
export const plotsOf = ({ servers }: Results): Readonly<Record<string, object>> => ({
  'cpu.svg': specificationOf(servers.rows, {
    title: 'CPU per request',
    subtitle: 'The point is the median, the line spans the quartiles. Less is better.',
    unit: `times that of ${servers.baseline}`,
    scale: 'linear',
    range: ({ ratios: { cpuUs } }) => [cpuUs?.lower, cpuUs?.median, cpuUs?.upper],
  }),
});

/** Colours for a dark page: an image has the colour scheme of the page that shows it. */
const style = `<style>
svg { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
  text { fill: #dfdfd6 }
  [stroke="#ddd"], [stroke="#888"] { stroke: #3c3f44 }
}
</style>`;

/** A comment in the SVG that changes with the specification and the colours, so that a test can see an outdated plot. */
export const stampOf = (plot: object): string =>
  `<!-- ${createHash('sha256')
    .update(JSON.stringify(plot) + style)
    .digest('hex')} -->`;

/** Draws a plot as SVG. */
export const draw = async (plot: object): Promise<string> => {
  const running = promisify(execFile)('npx', ['-y', 'pnpm@12', '--silent', 'bench:plot']);
  running.child.stdin?.end(JSON.stringify(plot));
  const { stdout } = await running;
  return `${stampOf(plot)}\n${stdout.replace('><', `>${style}<`)}\n`;
};
