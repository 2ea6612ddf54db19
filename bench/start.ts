// `node bench/start.ts`: from the command to the first answer, and the memory at rest, beside the least
// program that can answer.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildIfStale } from './alone.ts';
import { inWords, type Spread, spreadOf, tellTable } from './spread.ts';
import { type Start, startOnce } from './start/first-answer.ts';
import { token } from './token.ts';

/** The host's start, and the bare server's. */
export type StartComparison = Readonly<
  Record<'host' | 'bare', { readonly firstAnswerMs: Spread; readonly residentMiB: Spread }> & {
    /** The host's time over the bare server's of the same round. */
    timeRatio: Spread;
    memoryRatio: Spread;
  }
>;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Starts the built host on a database file; one that is not there is made. */
export const startHost = async (folder: string, database: string): Promise<Start> => {
  const tokens = join(folder, 'tokens');
  await writeFile(tokens, `${token}\n`);
  const settings = ['--port', '0', '--database', `sqlite:${database}`, '--tokens-file', tokens];
  return startOnce(
    [fileOf('../packages/server/dist/bin.js'), ...settings, '--log', 'json'],
    folder,
  );
};

const costOf = (starts: readonly Start[]) => ({
  firstAnswerMs: spreadOf(starts.map(({ firstAnswerMs }) => firstAnswerMs)),
  residentMiB: spreadOf(starts.map(({ residentBytes }) => residentBytes / 2 ** 20)),
});

/** Starts both in turn, each round on an empty folder. */
export const compareStarts = async ({ rounds }: { rounds: number }): Promise<StartComparison> => {
  buildIfStale();
  const told: { readonly host: Start; readonly bare: Start }[] = [];
  // One more round than asked: the first reads the files from the disk.
  for (let round = 0; round <= rounds; round += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'plantstore-start-'));
    try {
      const bare = await startOnce([fileOf('start/bare.mjs')], folder);
      told.push({ bare, host: await startHost(folder, join(folder, 'plants.db')) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const counted = told.slice(1);
  return {
    host: costOf(counted.map(({ host }) => host)),
    bare: costOf(counted.map(({ bare }) => bare)),
    timeRatio: spreadOf(counted.map(({ host, bare }) => host.firstAnswerMs / bare.firstAnswerMs)),
    memoryRatio: spreadOf(counted.map(({ host, bare }) => host.residentBytes / bare.residentBytes)),
  };
};

/** Prints it as rows. */
export const tellStarts = ({ host, bare, timeRatio, memoryRatio }: StartComparison): void => {
  tellTable([
    ['start', 'first answer, ms', 'at rest, MiB'],
    ['bare node:http', inWords(bare.firstAnswerMs, 0), inWords(bare.residentMiB, 0)],
    ['plantstore-server, sqlite', inWords(host.firstAnswerMs, 0), inWords(host.residentMiB, 0)],
    ['ratio', inWords(timeRatio), inWords(memoryRatio)],
  ]);
};

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
  tellStarts(await compareStarts({ rounds: Number(values.rounds) }));
}
