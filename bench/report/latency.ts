import type { LatencyMs, Servers } from '../results.ts';
import { dot, left, placeRows, right, type Row, width } from './rows.ts';
import { line, logarithmic, logTicks, picture, type Scale, words } from './svg.ts';

// Larger and hollow, the rarer: they are told apart without a second colour.
const marks = [
  { key: 'p50', label: 'median', radius: 4.5, looks: '' },
  { key: 'p99', label: 'p99', radius: 4.5, looks: 'hollow' },
  { key: 'p999', label: 'p99.9', radius: 2.5, looks: '' },
] as const satisfies readonly { readonly key: keyof LatencyMs; [more: string]: unknown }[];

const mark = ({ y, server: { group, latencyMs } }: Row, at: Scale): string =>
  latencyMs === null
    ? ''
    : [
        line(at(latencyMs.p50), y, at(latencyMs.p999), y, `range ${group}`),
        ...marks
          .toReversed()
          .map(({ key, radius, looks }) => dot(at(latencyMs[key]), y, radius, `${group} ${looks}`)),
      ].join('');

const legend = (y: number): readonly string[] =>
  marks.flatMap(({ label, radius, looks }, index) => {
    const x = right - 190 + index * 75;
    return [dot(x, y - 4.5, radius, `limit ${looks}`), words(x + 10, y, label, 'faint')];
  });

/** From a request to its answer, at every server. */
export const drawLatency = (servers: Servers): string => {
  const top = 56;
  const { rows, names, bottom } = placeRows(servers, top, ({ latencyMs }) => latencyMs !== null);
  const told = rows.flatMap(({ server: { latencyMs } }) => latencyMs ?? []);
  const least = Math.min(...told.map(({ p50 }) => p50)) * 0.8;
  const most = Math.max(...told.map(({ p999 }) => p999)) * 1.25;
  const at = logarithmic(least, most, left, right);
  const { connections } = servers.options;
  return picture({ width, height: bottom + 52, title: 'Latency by store and by peer' }, [
    words(16, 46, `${connections} connections, each with one request at a time`, 'faint'),
    ...legend(46),
    ...logTicks(least, most).flatMap((tick) => [
      line(at(tick), top, at(tick), bottom, 'grid'),
      words(at(tick), bottom + 18, String(tick), 'faint middle'),
    ]),
    ...names,
    ...rows.map((row) => mark(row, at)),
    words(
      (left + right) / 2,
      bottom + 38,
      'milliseconds from a request to its answer, logarithmic',
      'faint middle',
    ),
  ]);
};
