// From the command to the first answer, and the memory at rest, beside the least program that can answer.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin } from './build.ts';
import type { StartCost, Starts } from './results.ts';
import { spreadOf } from './spread.ts';
import { type Start, startOnce } from './start/first-answer.ts';
import { token } from './token.ts';

/** Starts the built host on a database file; one that is not there is made. */
export const startHost = async (folder: string, database: string): Promise<Start> => {
  const tokens = join(folder, 'tokens');
  await writeFile(tokens, `${token}\n`);
  const settings = ['--port', '0', '--database', `sqlite:${database}`, '--tokens-file', tokens];
  return startOnce([bin, ...settings, '--log', 'json'], folder);
};

const costOf = (starts: readonly Start[]): StartCost => ({
  firstAnswerMs: spreadOf(starts.map(({ firstAnswerMs }) => firstAnswerMs)),
  residentMiB: spreadOf(starts.map(({ residentBytes }) => residentBytes / 2 ** 20)),
});

/** Starts both in turn, each round on an empty folder. */
export const compareStarts = async (rounds: number): Promise<Starts> => {
  const told: { readonly host: Start; readonly bare: Start }[] = [];
  // One more round than asked: the first reads the files from the disk.
  for (let round = 0; round <= rounds; round += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'plantstore-start-'));
    try {
      const bare = await startOnce([join(import.meta.dirname, 'start/bare.mjs')], folder);
      told.push({ bare, host: await startHost(folder, join(folder, 'plants.db')) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const counted = told.slice(1);
  return {
    rounds,
    host: costOf(counted.map(({ host }) => host)),
    bare: costOf(counted.map(({ bare }) => bare)),
    timeRatio: spreadOf(counted.map(({ host, bare }) => host.firstAnswerMs / bare.firstAnswerMs)),
    memoryRatio: spreadOf(counted.map(({ host, bare }) => host.residentBytes / bare.residentBytes)),
  };
};
