// `pnpm bench:gate`: fails where a request takes much more CPU time than it did. The ratio to a baseline in
// the same run holds on a busy machine; throughput does not.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ours } from './contenders.ts';
import { type Load, measure } from './measure.ts';
import { runRounds, summarize } from './rounds.ts';

/**
 * The most CPU time per request, as a multiple of the baseline's, in the best of the rounds. Medians are 1.1 to
 * 1.2 and 1.6 to 1.8 on a quiet machine, 1.4 and 2.0 on a busy one; the rest is margin.
 */
const limits: Readonly<Record<string, number>> = {
  'ours, keeping nothing': 2,
  'ours, in memory, whole host, logging': 2.8,
};

const folder = await mkdtemp(join(tmpdir(), 'plantstore-gate-'));
const stores = {
  newFile: () => join(folder, 'host'),
  newDatabase: async () => Promise.reject(new Error('no server with a limit uses a database')),
};

const entries = ours(stores)
  .filter(({ name }) => name in limits)
  .map((contender) => ({
    ...contender,
    measure: async (how: Load) => measure(contender, how),
  }));
const load: Load = { connections: 64, seconds: 1, warmUpSeconds: 1.5 };
const { samples, failed } = await runRounds(entries, load, { rounds: 3, tell: () => {} });
await rm(folder, { recursive: true });

for (const entry of entries) {
  const limit = limits[entry.name] ?? 0;
  const ratio = summarize(entry, samples.get(entry.name) ?? []).cpu?.least ?? Number.NaN;
  const isFine = ratio <= limit;
  if (!isFine) process.exitCode = 1;
  const why = failed.get(entry.name) ?? `${ratio.toFixed(2)} times the baseline's CPU a request`;
  console.log(`${isFine ? 'good' : 'too much'}: ${entry.name}: ${why} (at most ${limit})`);
}
