// `node bench/core.ts`: what core takes to validate a plant that is parsed already, with a repository
// that keeps nothing, beside other libraries with the same rules.
import { parseArgs } from 'node:util';
import { buildIfStale, installCompared, startAlone } from './alone.ts';
import type { Question } from './core/validate.ts';
import { inWords, type Spread, spreadOf, tellTable } from './spread.ts';

/** One contender: plants a second, and that over zod's in the same round. */
export type CoreRow = {
  readonly name: string;
  readonly perSecond: Spread;
  readonly ratio: Spread;
};

/** For plants, and for what is none and has two faults. */
export type CoreComparison = {
  readonly plants: readonly CoreRow[];
  readonly faulty: readonly CoreRow[];
};

const warmUpRounds = 2;
const blockMs = 100;
const baseline = 'zod';

/** Measures every validator in turn, each round. */
export const compareCore = async ({
  rounds,
}: {
  readonly rounds: number;
}): Promise<CoreComparison> => {
  buildIfStale();
  installCompared();
  const validator = startAlone('core/validate.ts');
  const ask = async <T>(question: Question): Promise<T> => validator.ask<T>(question);
  const measureAll = async (isPlant: boolean): Promise<readonly CoreRow[]> => {
    const names = await ask<readonly string[]>({ ask: 'names' });
    const told: ReadonlyMap<string, number>[] = [];
    for (let round = 0; round < warmUpRounds + rounds; round += 1) {
      const blocks = new Map<string, number>();
      for (const name of names) {
        blocks.set(name, await ask<number>({ ask: 'block', name, isPlant, ms: blockMs }));
      }
      told.push(blocks);
    }
    const counted = told.slice(warmUpRounds);
    return names.map((name) => {
      const own = counted.map((round) => round.get(name) ?? Number.NaN);
      const base = counted.map((round) => round.get(baseline) ?? Number.NaN);
      const ratio = spreadOf(own.map((value, at) => value / (base[at] ?? 0)));
      return { name, perSecond: spreadOf(own), ratio };
    });
  };
  try {
    return { plants: await measureAll(true), faulty: await measureAll(false) };
  } finally {
    await validator.stop();
  }
};

/** Prints it as rows. */
export const tellCore = ({ plants, faulty }: CoreComparison): void => {
  const cells = ({ perSecond, ratio }: CoreRow): string[] => [
    `${(perSecond.median / 1_000).toFixed(0)} k/s`,
    `×${inWords(ratio)}`,
  ];
  tellTable([
    ['validation', 'plants', `over ${baseline}`, 'faulty', 'over it'],
    ...plants.map((row, at) => {
      const other = faulty[at];
      return [row.name, ...cells(row), ...(other === undefined ? [] : cells(other))];
    }),
  ]);
};

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
  tellCore(await compareCore({ rounds: Number(values.rounds) }));
}
