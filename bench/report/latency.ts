import type { LatencyMs, Servers } from '../results.ts';
import { dot, left, placeRows, right, type Row, width } from './rows.ts';
import { line, logarithmic, logTicks, picture, type Scale, words } from './svg.ts';

/** A mark for each part of the answers, told apart by its form. */
const marks: readonly {
  readonly key: keyof LatencyMs;
  readonly label: string;
  readonly draw: (x: number, y: number, looks: string) => string;
}[] = [
  { key: 'p50', label: 'median', draw: (x, y, looks) => dot(x, y, 4.5, looks) },
  { key: 'p99', label: 'p99', draw: (x, y, looks) => dot(x, y, 4.5, `${looks} hollow`) },
  { key: 'p999', label: 'p99.9', draw: (x, y, looks) => line(x, y - 7, x, y + 7, `${looks} tick`) },
];

const range = ({ y, server: { group, latencyMs } }: Row, at: Scale): string =>
  latencyMs === null
    ? ''
    : [
        line(at(latencyMs.p50), y, at(latencyMs.p999), y, `range ${group}`),
        ...marks.map(({ key, draw }) => draw(at(latencyMs[key]), y, group)),
      ].join('');

const legend = (y: number): readonly string[] =>
  marks.flatMap(({ label, draw }, index) => {
    const x = right - 190 + index * 75;
    return [draw(x, y - 4.5, 'limit'), words(x + 12, y, label, 'faint')];
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
    ...rows.map((row) => range(row, at)),
    words(
      (left + right) / 2,
      bottom + 38,
      'milliseconds from a request to its answer, logarithmic',
      'faint middle',
    ),
  ]);
};
