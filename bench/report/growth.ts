import type { Growth, GrowthStep, Spread } from '../results.ts';
import { many } from '../tables.ts';
import { dot } from './rows.ts';
import {
  element,
  line,
  linear,
  logarithmic,
  picture,
  roundStep,
  type Scale,
  words,
} from './svg.ts';

const size = { width: 720, height: 380 };
const left = 64;
const right = 690;
const top = 64;
const bottom = 320;

type Curve = {
  readonly label: string;
  readonly looks: string;
  readonly of: (step: GrowthStep) => Spread;
  /** Apart from each other, where two are at one place. */
  readonly shift: number;
};

const curves: readonly Curve[] = [
  { label: 'time', looks: 'ours', of: ({ perCreateRatio }) => perCreateRatio, shift: -3 },
  { label: 'CPU', looks: 'peer', of: ({ cpuRatio }) => cpuRatio, shift: 3 },
];

const draw = (steps: readonly GrowthStep[], { looks, of, shift }: Curve, x: Scale, y: Scale) => {
  const at = steps.map((step) => ({ x: x(step.plants) + shift, told: of(step) }));
  const points = at.map((point) => `${point.x.toFixed(1)},${y(point.told.median).toFixed(1)}`);
  return [
    element('polyline', { points: points.join(' '), class: `${looks} path` }),
    ...at.map((point) =>
      line(point.x, y(point.told.least), point.x, y(point.told.most), `${looks} path`),
    ),
    ...at.map((point) => dot(point.x, y(point.told.median), 4, looks)),
  ].join('');
};

/** What a create costs at each size of a store, as a multiple of that in a small one. */
export const drawGrowth = ({ small, steps }: Growth): string => {
  const sizes = steps.map(({ plants }) => plants);
  const highest = Math.max(...steps.flatMap((step) => curves.map(({ of }) => of(step).most)), 1);
  const spacing = roundStep(highest, 6);
  const most = Math.ceil(highest / spacing) * spacing;
  const x = logarithmic(Math.min(...sizes) * 0.8, Math.max(...sizes) * 1.25, left, right);
  const y = linear(most, bottom, top);
  const ticks = Array.from({ length: Math.round(most / spacing) + 1 }, (_, at) => at * spacing);
  return picture({ ...size, title: 'What a create costs as the store grows' }, [
    words(16, 46, `Times that in a store of ${many(small)} plants, measured in turn`, 'faint'),
    ...curves.flatMap(({ label, looks }, at) => [
      dot(right - 110 + at * 65, 41.5, 4, looks),
      words(right - 100 + at * 65, 46, label, 'faint'),
    ]),
    ...ticks.flatMap((tick) => [
      line(left, y(tick), right, y(tick), tick === 0 ? 'axis' : 'grid'),
      words(left - 8, y(tick) + 4, String(Number(tick.toFixed(2))), 'faint end'),
    ]),
    line(left, y(1), right, y(1), 'base'),
    ...sizes.map((plants) => words(x(plants), bottom + 20, many(plants), 'faint middle')),
    words(
      (left + right) / 2,
      bottom + 44,
      'plants in the SQLite file, logarithmic',
      'faint middle',
    ),
    ...curves.map((curve) => draw(steps, curve, x, y)),
  ]);
};
