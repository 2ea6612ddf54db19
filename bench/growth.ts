// Measures creates in SQLite files with increasing numbers of plants and random ids, for which caches have little effect.
import { randomFillSync } from 'node:crypto';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { wholeServerOn } from './contenders.ts';
import { withFolder } from './folder.ts';
import type { Load } from './load.ts';
import type { Part } from './results.ts';
import { type Contender, runRounds } from './rounds.ts';
import { measureServer } from './server.ts';
import { measureStart } from './start.ts';

const small = 10_000;
const sizes = [100_000, 1_000_000, 5_000_000];

/** Creates plants in a file, with as many concurrent creates as a repository permits. */
const fill = async (path: string, plants: number): Promise<void> => {
  const opened = await openSqliteRepository({ path });
  if (opened.isErr()) throw new Error(opened.error.message);
  const repository = opened.value;
  const createOne = async (id: bigint) => {
    const created = await repository.create({ id, name: 'Monstera', tag: 'climber' });
    if (created.isErr()) throw new Error(created.error.kind);
  };
  const atATime = 10_000;
  for (let left = plants; left > 0; left -= atATime) {
    const ids = randomFillSync(new BigInt64Array(Math.min(left, atATime)));
    await Promise.all(Array.from(ids, createOne));
  }
  await repository.close();
};

/** Returns a contender with a file of this number of plants. Each measurement uses a copy. */
const contenderOf = async (folder: string, plants: number, load: Load): Promise<Contender> => {
  const filled = join(folder, `${plants}.db`);
  await fill(filled, plants);
  const { size } = await stat(filled);
  return {
    name: String(plants),
    measure: async () =>
      withFolder(async (copyFolder) => {
        const server = wholeServerOn(join(copyFolder, 'plants.db'));
        await copyFile(filled, join(copyFolder, 'plants.db'));
        const start = await measureStart(server);
        const figures = await measureServer(server, load);
        return { ...figures, ...start, bytesPerPlant: size / plants };
      }),
  };
};

/** Measures this project on files of each size up to `most`, and on a small one. */
export const measureGrowth = async (load: Load, most: number, rounds: number): Promise<Part> =>
  withFolder(async (folder) => {
    const baseline = await contenderOf(folder, small, load);
    const contenders: Contender[] = [];
    for (const plants of sizes.filter((size) => size <= most))
      contenders.push(await contenderOf(folder, plants, load));
    const rows = await runRounds(baseline, contenders, { rounds });
    return { rounds, baseline: baseline.name, rows };
  });
