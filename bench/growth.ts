import { randomFillSync } from 'node:crypto';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteRepository } from '@plantstore/sqlite';
import { wholeServerOn } from './contenders.ts';
import { withFolder } from './folder.ts';
import type { Load } from './load.ts';
import type { Part } from './results.ts';
import { type Contender, type Figures, runRounds } from './rounds.ts';
import { measureServer, post, type Server, withServer } from './server.ts';

/**
 * Measures creates in SQLite files of each size up to `most`, as multiples of those in a small one.
 * The ids are random, for which caches have little effect.
 */
export async function measureGrowth(load: Load, most: number, rounds: number): Promise<Part> {
  return withFolder(async (folder) => {
    const baseline = await contenderOf(folder, small, load);
    const contenders: Contender[] = [];
    for (const plants of sizes.filter((size) => size <= most))
      contenders.push(await contenderOf(folder, plants, load));
    const rows = await runRounds(baseline, contenders, { rounds });
    return { rounds, baseline: baseline.name, rows };
  });
}

const small = 10_000;
const sizes = [100_000, 1_000_000, 5_000_000, 20_000_000];

/** Returns a contender with a file of this number of plants. Each measurement uses a copy. */
async function contenderOf(folder: string, plants: number, load: Load): Promise<Contender> {
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
}

/** Creates plants in a file, with as many concurrent creates as a repository permits. */
async function fill(path: string, plants: number): Promise<void> {
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
}

/** Measures the time from the start to the first response, and the memory a second later. */
async function measureStart(server: Server): Promise<Figures> {
  const began = performance.now();
  return withServer(server, async (port, child) => {
    const { status } = await post(port, { id: 1, name: 'Monstera' });
    if (status !== 200) throw new Error(`the first response was ${status}`);
    const firstResponseMs = performance.now() - began;
    await sleep(1_000);
    const { residentMiB } = await child.usage();
    return { firstResponseMs, atRestMiB: residentMiB };
  });
}
