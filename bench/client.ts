// `node bench/client.ts`: a call of the client beside the same call by bare fetch and by other clients,
// on one loopback server, in blocks that take turns; and their weight in a bundle.
import { parseArgs } from 'node:util';
import { type Alone, buildIfStale, installCompared, startAlone } from './alone.ts';
import { bundleSizes } from './client/bundle-sizes.ts';
import type { Block, Question } from './client/calls.ts';
import { inWords, type Spread, spreadOf, tellTable } from './spread.ts';

/** One contender in one setting, for each call, and over bare fetch in the same round. */
export type ClientRow = {
  readonly name: string;
  readonly wallUs: Spread;
  readonly cpuUs: Spread;
  readonly allocatedBytes: Spread;
  readonly wallRatio: Spread;
  readonly cpuRatio: Spread;
  readonly allocatedRatio: Spread;
};

/** How the calls are made. */
export type ClientSetting = {
  readonly title: string;
  readonly atATime: number;
  readonly isInjected: boolean;
};

export type ClientComparison = {
  readonly settings: readonly (ClientSetting & { readonly rows: readonly ClientRow[] })[];
  /** Minified and gzipped bytes by client. */
  readonly bundles: Readonly<Record<string, number>>;
};

const settings: readonly ClientSetting[] = [
  { title: 'one call after the other', atATime: 1, isInjected: false },
  { title: '16 calls at a time', atATime: 16, isInjected: false },
  { title: 'a fetch that answers at once', atATime: 1, isInjected: true },
];
const calls = 512;
const warmUpRounds = 4;
const baseline = 'bare fetch';

// A heap with room for all garbage of a block grows by what was allocated; where time counts, V8 decides.
const roomy = ['--min-semi-space-size=256', '--max-semi-space-size=256'];

type Round = ReadonlyMap<string, Block>;

const spreadsOf = (name: string, rounds: readonly Round[], key: keyof Block) => {
  const own = rounds.map((round) => round.get(name)?.[key] ?? Number.NaN);
  const base = rounds.map((round) => round.get(baseline)?.[key] ?? Number.NaN);
  return [spreadOf(own), spreadOf(own.map((value, at) => value / (base[at] ?? 0)))] as const;
};

const rowOf = (name: string, timed: readonly Round[], roomyRounds: readonly Round[]): ClientRow => {
  const [wallUs, wallRatio] = spreadsOf(name, timed, 'wallUs');
  const [cpuUs, cpuRatio] = spreadsOf(name, timed, 'cpuUs');
  const [allocatedBytes, allocatedRatio] = spreadsOf(name, roomyRounds, 'heapGrowth');
  return { name, wallUs, cpuUs, allocatedBytes, wallRatio, cpuRatio, allocatedRatio };
};

/** One block of each contender in turn, each round. */
const runRounds = async (
  caller: Alone,
  names: readonly string[],
  { atATime, isInjected }: ClientSetting,
  rounds: number,
): Promise<readonly Round[]> => {
  const told: Round[] = [];
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    const blocks = new Map<string, Block>();
    // Each round begins with another one, as each leaves something to the next.
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const question: Question = { ask: 'block', name, calls, atATime, isInjected };
      blocks.set(name, await caller.ask<Block>(question));
    }
    told.push(blocks);
  }
  return told.slice(warmUpRounds);
};

/** Measures every client in every setting. */
export const compareClients = async ({
  rounds,
}: {
  readonly rounds: number;
}): Promise<ClientComparison> => {
  buildIfStale();
  installCompared();
  const server = startAlone('client/answer-server.ts');
  const timed = startAlone('client/calls.ts', ['--expose-gc']);
  const roomyCaller = startAlone('client/calls.ts', ['--expose-gc', ...roomy]);
  try {
    const begin: Question = { ask: 'names', baseUrl: await server.ask<string>('listen') };
    const names = await timed.ask<readonly string[]>(begin);
    await roomyCaller.ask(begin);
    const measured: ClientComparison['settings'][number][] = [];
    for (const setting of settings) {
      const times = await runRounds(timed, names, setting, rounds);
      const heaps = await runRounds(roomyCaller, names, setting, 3);
      measured.push({ ...setting, rows: names.map((name) => rowOf(name, times, heaps)) });
    }
    return { settings: measured, bundles: await bundleSizes() };
  } finally {
    await Promise.all([server.stop(), timed.stop(), roomyCaller.stop()]);
  }
};

/** Prints it as rows. */
export const tellClients = (comparison: ClientComparison): void => {
  for (const { title, rows } of comparison.settings) {
    tellTable([
      [title, 'µs', `over ${baseline}`, 'CPU µs', 'CPU over it', 'KiB allocated', 'over it'],
      ...rows.map((row) => [
        row.name,
        row.wallUs.median.toFixed(1),
        `×${inWords(row.wallRatio)}`,
        row.cpuUs.median.toFixed(1),
        `×${inWords(row.cpuRatio)}`,
        (row.allocatedBytes.median / 1_024).toFixed(1),
        `×${inWords(row.allocatedRatio)}`,
      ]),
    ]);
    console.log();
  }
  tellTable([
    ['in a bundle', 'bytes, gzipped'],
    ...Object.entries(comparison.bundles).map(([name, bytes]) => [name, String(bytes)]),
  ]);
};

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } });
  tellClients(await compareClients({ rounds: Number(values.rounds) }));
}
