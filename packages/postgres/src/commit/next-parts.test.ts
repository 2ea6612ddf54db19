import { expect, it } from 'vitest';
import { nextParts, type PartFailure } from './commit-batch.ts';

type Case = readonly [
  string,
  missing: readonly number[],
  { readonly failure?: PartFailure; readonly isFirst?: boolean; readonly inARow?: number },
  parts: readonly (readonly number[])[],
  settled: readonly number[],
];

/** Plants are numbers; the parts after this one are [8, 9]. */
const rest = [8, 9];
const cases: readonly Case[] = [
  ['nothing is missing', [], { isFirst: true }, [rest], []],
  ['a plant was deleted meanwhile', [1], { isFirst: true }, [[1], rest], []],
  ['a trigger discards a plant', [1], {}, [rest], [1]],
  ['a part is refused', [1, 2, 3], { failure: 'plant' }, [[1, 2], [3], rest], []],
  ['a plant is refused', [1], { failure: 'plant' }, [rest], [1]],
  ['a function fails', [1, 2], { failure: 'function', inARow: 23 }, [[1], [2], rest], []],
  ['a function always fails', [1, 2], { failure: 'function', inARow: 24 }, [], [1, 2, 8, 9]],
  ['an id is locked', [1], { failure: 'lock' }, [rest], [1]],
  ['all ids are locked', [1], { failure: 'lock', inARow: 24 }, [], [1, 8, 9]],
];

it.each(cases)('the parts after one: %s', (_, missing, outcome, parts, settled) => {
  const { failure, isFirst = false, inARow: failuresInARow = 1 } = outcome;
  const next = nextParts(missing, [rest], { failure, isFirst, failuresInARow });
  expect(next).toEqual({ parts, settled });
});

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
