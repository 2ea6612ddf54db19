import type { Parts, Row } from './results.ts';

/** Draws the CPU time per request of each server, as SVG. Narrow enough for a phone. */
export function drawCpu({ rows, baseline }: Pick<Parts['servers'], 'rows' | 'baseline'>): string {
  const measured = rows.flatMap(({ ratios: { cpuUs }, ...row }) =>
    cpuUs ? [{ ...row, cpuUs }] : [],
  );
  const most = Math.ceil(Math.max(...measured.map(({ cpuUs }) => cpuUs.upper)));
  const bottom = top + measured.length * rowHeight;
  const x = (times: number): string => ((times / most) * width).toFixed(1);
  const ticks = Array.from({ length: most + 1 }, (_, at) => at).filter((at) => at % 2 === 0);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-15 0 ${width + 30} ${bottom + 30}" width="${width + 30}">`,
    style,
    text(0, 20, 'CPU per request', ' class="title"'),
    text(0, 42, 'The point is the median, the line spans the quartiles.'),
    text(0, 60, `In times that of ${baseline}. Less is better.`),
    ...Object.entries(groups).map(
      ([group, label], at) => point(group, at * 110 + 6, 80) + text(at * 110 + 16, 85, label),
    ),
    ...ticks.map(
      (tick) =>
        `<path class="grid" d="M${x(tick)} ${top}V${bottom}" />` +
        text(x(tick), bottom + 20, `×${tick}`, ' text-anchor="middle"'),
    ),
    ...measured.map(({ name, group, cpuUs }, at) => {
      const y = top + at * rowHeight + 28;
      const line = `<path class="${group}" d="M${x(cpuUs.lower)} ${y}H${x(cpuUs.upper)}" />`;
      return text(4, y - 10, name) + line + point(group, x(cpuUs.median), y);
    }),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

const width = 400;
const rowHeight = 38;
const top = 95;

const groups: Readonly<Record<NonNullable<Row['group']>, string>> = {
  limit: 'bare',
  ours: 'ours',
  peer: 'peers',
};

// An image has the colour scheme of the page that shows it.
const style = `<style>
svg { color-scheme: light dark }
text { font: 13px system-ui, sans-serif }
.title { font-size: 16px; font-weight: bold }
path { stroke-width: 3 }
.grid { stroke: #ddd; stroke-width: 1 }
.limit { fill: #818b98; stroke: #818b98 }
.ours { fill: #1a9850; stroke: #1a9850 }
.peer { fill: #3b7dd8; stroke: #3b7dd8 }
@media (prefers-color-scheme: dark) {
  text { fill: #dfdfd6 }
  .grid { stroke: #3c3f44 }
}
</style>`;

function text(x: number | string, y: number, content: string, attributes = ''): string {
  return `<text x="${x}" y="${y}"${attributes}>${content}</text>`;
}

function point(group: string | undefined, x: number | string, y: number): string {
  return `<circle class="${group}" cx="${x}" cy="${y}" r="5" />`;
}
