import type { Servers, Spread } from '../results.ts';
import { left, placeRows, right, type Row, width } from './rows.ts';
import { element, line, linear, picture, roundStep, type Scale, words } from './svg.ts';

const barHeight = 14;

const whisker = (y: number, from: number, to: number): string =>
  [
    line(from, y, to, y, 'whisker'),
    line(from, y - 4, from, y + 4, 'whisker'),
    line(to, y - 4, to, y + 4, 'whisker'),
  ].join('');

const bar = ({ y, server: { name, group } }: Row, { median, least, most }: Spread, at: Scale) =>
  [
    element('rect', {
      x: left,
      y: y - barHeight / 2,
      width: at(median) - left,
      height: barHeight,
      class: group,
      'data-name': name,
    }),
    // The baseline has no spread.
    least === most ? '' : whisker(y, at(least), at(most)),
    words(at(most) + 8, y + 4.5, median.toFixed(2)),
  ].join('');

/** Draws the CPU time per request of every server, as multiples of the baseline's. */
export const drawCpu = (servers: Servers): string => {
  const top = 56;
  const { rows, names, bottom } = placeRows(servers, top, ({ cpu }) => cpu !== null);
  const most = 1.05 * Math.max(...rows.map(({ server }) => server.cpu?.most ?? 0));
  const at = linear(most, left, right);
  const step = roundStep(most, 10);
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, count) => count * step);
  return picture({ width, height: bottom + 52, title: 'CPU per request by store and by peer' }, [
    words(
      16,
      46,
      'The bar is the median, the whisker spans all rounds; shorter is better',
      'faint',
    ),
    ...ticks.flatMap((tick) => [
      line(at(tick), top, at(tick), bottom, 'grid'),
      words(at(tick), bottom + 18, String(Number(tick.toFixed(2))), 'faint middle'),
    ]),
    line(left, top, left, bottom, 'axis'),
    line(at(1), top, at(1), bottom, 'base'),
    ...names,
    ...rows.map((row) => (row.server.cpu === null ? '' : bar(row, row.server.cpu, at))),
    words(
      (left + right) / 2,
      bottom + 38,
      `times the CPU time per request of ${servers.baseline.name}, measured in turn`,
      'faint middle',
    ),
  ]);
};
