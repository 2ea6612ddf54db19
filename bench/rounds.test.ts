import { expect, it } from 'vitest';
import { type Contender, type Figures, runRounds } from './rounds.ts';

/** Creates a contender that returns the given results, one per measurement. */
const contenderOf = (name: string, results: readonly Figures[], log: string[] = []): Contender => {
  const left = [...results];
  return {
    name,
    async measure() {
      log.push(name);
      const figures = left.shift();
      if (figures === undefined) throw new Error(`${name} failed`);
      return figures;
    },
  };
};

const rates = (...values: readonly number[]) => values.map((perSecond) => ({ perSecond }));

it('the benchmark relates each contender to the mean of the baseline before and after it', async () => {
  const bare = contenderOf('bare', rates(100, 300, 300, 100, 200, 200));
  const own = contenderOf('own', rates(100, 400, 200));
  const [, row] = await runRounds(bare, [own], { rounds: 3 });
  expect(row?.ratios['perSecond']).toEqual({ lower: 0.75, median: 1, upper: 1.5 });
});

it('runRounds reports the median and the quartiles of the rounds', async () => {
  const bare = contenderOf('bare', rates(1, 1, 1, 1, 1, 1, 1, 1, 1, 9));
  const own = contenderOf('own', rates(50, 10, 1_000, 20, 40));
  const [base, row] = await runRounds(bare, [own], { rounds: 5 });
  expect(base?.figures['perSecond']).toEqual({ lower: 1, median: 1, upper: 1 });
  expect(row?.figures['perSecond']).toEqual({ lower: 20, median: 40, upper: 50 });
});

it('the benchmark starts each round with the next contender, and measures the baseline between groups of contenders', async () => {
  const log: string[] = [];
  const [bare, ...others] = ['bare', 'a', 'b', 'c'].map((name) =>
    contenderOf(name, rates(1, 1, 1, 1, 1, 1), log),
  );
  if (bare === undefined) throw new Error('no baseline');
  await runRounds(bare, others, { rounds: 2, betweenBaselines: 2 });
  expect(log.join(' ')).toBe('bare a b bare c bare bare b c bare a bare');
});
