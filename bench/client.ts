// A call of the client beside the same call by bare fetch and by other clients, on one loopback server,
// in blocks that take turns; and their weight in a bundle.
import { type Asked, startAsked } from './child.ts';
import { bundleSizes } from './client/bundle-sizes.ts';
import type { Block, Question } from './client/calls.ts';
import { installIn } from './install.ts';
import type { ClientRow, Clients, ClientSetting } from './results.ts';
import { spreadOf } from './spread.ts';

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
  caller: Asked,
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
export const compareClients = async (rounds: number): Promise<Clients> => {
  await installIn('compare');
  const server = startAsked('client/answer-server.ts');
  const timed = startAsked('client/calls.ts', ['--expose-gc']);
  const roomyCaller = startAsked('client/calls.ts', ['--expose-gc', ...roomy]);
  try {
    const begin: Question = { ask: 'names', baseUrl: await server.ask<string>({ ask: 'listen' }) };
    const names = await timed.ask<readonly string[]>(begin);
    await roomyCaller.ask(begin);
    const measured: Clients['settings'][number][] = [];
    for (const setting of settings) {
      const times = await runRounds(timed, names, setting, rounds);
      const heaps = await runRounds(roomyCaller, names, setting, 3);
      measured.push({ ...setting, rows: names.map((name) => rowOf(name, times, heaps)) });
    }
    return { rounds, baseline, settings: measured, bundles: await bundleSizes() };
  } finally {
    await Promise.all([server.stop(), timed.stop(), roomyCaller.stop()]);
  }
};
