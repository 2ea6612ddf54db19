import type { Servers } from '../results.ts';
import { left, placeRows, right, type Row, width } from './rows.ts';
import { element, line, linear, picture, roundStep, type Scale, words } from './svg.ts';

const barHeight = 14;

const whisker = (y: number, from: number, to: number): string =>
  [
    line(from, y, to, y, 'whisker'),
    line(from, y - 4, from, y + 4, 'whisker'),
    line(to, y - 4, to, y + 4, 'whisker'),
  ].join('');

/** Two gaps that say that a bar goes on. */
const cut = (y: number): string =>
  [24, 16].map((x) => line(right - x, y + 9, right - x + 6, y - 9, 'cut')).join('');

const bar = ({ y, server: { name, group, throughput } }: Row, most: number, at: Scale): string => {
  const { median, least, most: highest } = throughput;
  const isCut = highest > most;
  const shape = {
    x: left,
    y: y - barHeight / 2,
    width: (isCut ? right : at(median)) - left,
    height: barHeight,
    class: group,
    'data-name': name,
  };
  return [
    element('rect', shape),
    // The baseline has none: it is what the others' are to.
    ...(isCut ? [cut(y)] : least === highest ? [] : [whisker(y, at(least), at(highest))]),
    words((isCut ? right : at(highest)) + 8, y + 4.5, median.toFixed(2)),
  ].join('');
};

/** Requests a second of every server, as parts of the baseline's. */
export const drawThroughput = (servers: Servers): string => {
  const top = 56;
  const { rows, names, bottom } = placeRows(servers, top);
  // What bounds everybody is far beyond what is compared, and would leave no room for it.
  const compared = servers.contenders.filter(({ group }) => group !== 'limit');
  const most = 1.05 * Math.max(1, ...compared.map(({ throughput }) => throughput.most));
  const at = linear(most, left, right);
  const step = roundStep(most, 8);
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, count) => count * step);
  return picture({ width, height: bottom + 52, title: 'Throughput by store and by peer' }, [
    words(
      16,
      46,
      'Plants created a second; the bar is the median, the whisker all rounds',
      'faint',
    ),
    ...ticks.flatMap((tick) => [
      line(at(tick), top, at(tick), bottom, 'grid'),
      words(at(tick), bottom + 18, String(Number(tick.toFixed(2))), 'faint middle'),
    ]),
    line(left, top, left, bottom, 'axis'),
    line(at(1), top, at(1), bottom, 'base'),
    ...names,
    ...rows.map((row) => bar(row, most, at)),
    words(
      (left + right) / 2,
      bottom + 38,
      `times the throughput of ${servers.baseline.name}, measured in turn; longer bars are cut`,
      'faint middle',
    ),
  ]);
};
