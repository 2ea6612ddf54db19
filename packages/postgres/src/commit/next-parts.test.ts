import { expect, it } from 'vitest';
import { nextParts, type PartFailure } from './commit-batch.ts';

/** Plants are numbers; the parts after this one are [8, 9]. */
const cases: readonly (readonly [
  string,
  readonly number[],
  { readonly failure?: PartFailure; readonly isFirst?: boolean; readonly inARow?: number },
  { readonly parts: readonly (readonly number[])[]; readonly settled: readonly number[] },
])[] = [
  ['nothing is missing', [], { isFirst: true }, { parts: [[8, 9]], settled: [] }],
  ['a plant was deleted meanwhile', [1], { isFirst: true }, { parts: [[1], [8, 9]], settled: [] }],
  ['a trigger discards a plant', [1], {}, { parts: [[8, 9]], settled: [1] }],
  [
    'a part is refused',
    [1, 2, 3],
    { failure: 'plant' },
    { parts: [[1, 2], [3], [8, 9]], settled: [] },
  ],
  ['a plant is refused', [1], { failure: 'plant' }, { parts: [[8, 9]], settled: [1] }],
  [
    'many are refused',
    [1, 2],
    { failure: 'plant', inARow: 99 },
    { parts: [[1], [2], [8, 9]], settled: [] },
  ],
  [
    'a function fails',
    [1, 2],
    { failure: 'function', inARow: 23 },
    { parts: [[1], [2], [8, 9]], settled: [] },
  ],
  [
    'a function always fails',
    [1, 2],
    { failure: 'function', inARow: 24 },
    { parts: [], settled: [1, 2, 8, 9] },
  ],
  ['an id is locked', [1], { failure: 'lock' }, { parts: [[8, 9]], settled: [1] }],
  ['all ids are locked', [1], { failure: 'lock', inARow: 24 }, { parts: [], settled: [1, 8, 9] }],
  [
    'the table has a fault',
    [1, 2],
    { failure: 'table', isFirst: true },
    { parts: [], settled: [1, 2, 8, 9] },
  ],
];

it.each(cases)(
  'the parts after one: %s',
  (_, missing, { failure, isFirst = false, inARow = 1 }, next) => {
    expect(nextParts(missing, [[8, 9]], { failure, isFirst, failuresInARow: inARow })).toEqual(
      next,
    );
  },
);

it('one plant of 1,000 that fails is found with 19 statements', () => {
  const batch = Array.from({ length: 1_000 }, (_, id) => id);
  let [statements, failuresInARow] = [0, 0];
  const failed: number[] = [];
  for (let parts: readonly (readonly number[])[] = [batch]; parts.length > 0; statements += 1) {
    const [part = [], ...waiting] = parts;
    const failure = part.includes(999) ? 'function' : undefined;
    failuresInARow = failure === undefined ? 0 : failuresInARow + 1;
    const missing = failure === undefined ? [] : part;
    const next = nextParts(missing, waiting, { failure, isFirst: part === batch, failuresInARow });
    failed.push(...next.settled);
    parts = next.parts;
  }
  expect([failed, statements]).toEqual([[999], 19]);
});
