// Measures how many parsed inputs a second core validates, beside other libraries with the same rules.
import { startAsked } from './child.ts';
import type { Question } from './core/validate.ts';
import { installIn } from './install.ts';
import type { Core, CoreRow } from './results.ts';
import { spreadOf } from './spread.ts';

const warmUpRounds = 2;
const blockMs = 100;
const baseline = 'zod';

/** Measures every validator in turn, each round. */
export const compareCore = async (rounds: number): Promise<Core> => {
  await installIn('compare');
  const validator = startAsked('core/validate.ts');
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
    return {
      rounds,
      baseline,
      plants: await measureAll(true),
      faulty: await measureAll(false),
    };
  } finally {
    await validator.stop();
  }
};
