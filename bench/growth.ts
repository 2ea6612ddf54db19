// What a create costs as the plants in a SQLite file become many, with random ids, which no cache helps.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Asked, startAsked } from './child.ts';
import type { Answer, Question } from './growth/store.ts';
import type { Growth, GrowthStep, Spread } from './results.ts';
import { spreadOf } from './spread.ts';
import type { Start } from './start/first-answer.ts';
import { startHost } from './start.ts';

const small = 10_000;
const sizes = [10_000, 100_000, 1_000_000, 5_000_000];
// As many as that many connections give, each waiting for its answer.
const atATime = 64;
const windowPlants = 20_000;
// As many as may wait at a time.
const fillAtATime = 10_000;

const asking = (store: Asked) => async (question: Question) => store.ask<Answer>(question);

type Ask = ReturnType<typeof asking>;

/** Measures a window on a new store of the small size. */
const measureSmall = async (ask: Ask, path: string): Promise<Answer> => {
  await ask({ ask: 'open', path });
  await ask({ ask: 'create', plants: small, atATime: fillAtATime });
  const told = await ask({ ask: 'create', plants: windowPlants, atATime });
  await ask({ ask: 'close' });
  await rm(path);
  return told;
};

const measureStarts = async (folder: string, path: string, rounds: number) => {
  const told: { readonly own: Start; readonly base: Start }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const empty = join(folder, `empty-${round}.db`);
    const base = await startHost(folder, empty);
    const own = await startHost(folder, path);
    told.push({ base, own });
    await rm(empty);
  }
  return {
    hostResidentMiB: spreadOf(told.map(({ own }) => own.residentBytes / 2 ** 20)),
    firstAnswerMs: spreadOf(told.map(({ own }) => own.firstAnswerMs)),
    firstAnswerRatio: spreadOf(told.map(({ own, base }) => own.firstAnswerMs / base.firstAnswerMs)),
  };
};

const measureOpens = async (ask: Ask, path: string, rounds: number): Promise<Spread> => {
  const told: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { seconds } = await ask({ ask: 'open', path });
    told.push(seconds * 1_000);
    await ask({ ask: 'close' });
  }
  return spreadOf(told);
};

/** Fills a store in a process of its own, whose memory counts for nothing. */
const fill = async (path: string, plants: number): Promise<number> => {
  const filler = startAsked('growth/store.ts');
  const ask = asking(filler);
  try {
    await ask({ ask: 'open', path });
    const { seconds } = await ask({ ask: 'create', plants, atATime: fillAtATime });
    await ask({ ask: 'close' });
    return seconds;
  } finally {
    await filler.stop();
  }
};

/** Lets a store grow, and measures it at each size up to that of most plants. */
export const measureGrowth = async ({
  plants: most,
  rounds,
}: {
  readonly plants: number;
  readonly rounds: number;
}): Promise<Growth> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-growth-'));
  const stores = { small: startAsked('growth/store.ts'), big: startAsked('growth/store.ts') };
  const askSmall = asking(stores.small);
  const askBig = asking(stores.big);
  const path = join(folder, 'big.db');
  const newFile = join(folder, 'small.db');
  const steps: GrowthStep[] = [];
  let held = 0;
  try {
    // What is measured first would pay for the compiler.
    await measureSmall(askBig, newFile);
    await measureSmall(askSmall, newFile);
    for (const plants of sizes.filter((size) => size <= most)) {
      const fillSeconds = await fill(path, plants - held);
      await askBig({ ask: 'open', path });
      const told: { readonly own: Answer; readonly base: Answer }[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const base = await measureSmall(askSmall, newFile);
        const own = await askBig({ ask: 'create', plants: windowPlants, atATime });
        told.push({ own, base });
      }
      await askBig({ ask: 'close' });
      held = plants + rounds * windowPlants;
      const { size } = await stat(path);
      steps.push({
        plants,
        fillSeconds,
        perCreate: spreadOf(told.map(({ own }) => (own.seconds * 1e6) / windowPlants)),
        perCreateRatio: spreadOf(told.map(({ own, base }) => own.seconds / base.seconds)),
        cpuRatio: spreadOf(told.map(({ own, base }) => own.cpuSeconds / base.cpuSeconds)),
        longestWaveMs: Math.max(...told.map(({ own }) => own.longestWaveMs)),
        residentMiB: (told.at(-1)?.own.residentBytes ?? 0) / 2 ** 20,
        bytesPerPlant: size / held,
        openMs: await measureOpens(askBig, path, rounds),
        ...(await measureStarts(folder, path, rounds)),
      });
    }
  } finally {
    await Promise.all([stores.small.stop(), stores.big.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
  return { rounds, small, steps };
};
