// Compares a call of the client with the same call of plain fetch and other clients, on one loopback server.
import { join } from 'node:path';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { sum } from 'simple-statistics';
import { baseline, peersFolder } from './contenders.ts';
import type { Parts, Row } from './results.ts';
import { type Figures, runRounds } from './rounds.ts';
import { withServer } from './server.ts';
import { installPeers } from './servers.ts';
import { token } from './token.ts';

/** Creates a plant and returns the name in the response. */
type Call = (plant: {
  readonly id: number;
  readonly name: string;
  readonly tag: string;
}) => Promise<string>;

type Modules = {
  readonly createClients: (
    baseUrl: string,
    token: string,
    fetch?: () => Promise<Response>,
  ) => Readonly<Record<string, Call>>;
  readonly bundleSizes: () => Promise<Readonly<Record<string, number>>>;
};

const importPeer = async (file: string): Promise<Modules> =>
  (await import(join(peersFolder, file))) as Modules;

const respondImmediately = async (): Promise<Response> =>
  new Response('{"name":"Monstera","tag":"climber"}', {
    headers: { 'Content-Type': 'application/json' },
  });

const settings = [
  { section: 'one call after the other', atATime: 1 },
  { section: 'a fetch that responds at once', atATime: 1, fetch: respondImmediately },
];

const calls = 512;

/** Runs a block of calls. The figures are per call. */
const measureCalls = async (call: Call, atATime: number): Promise<Figures> => {
  const callMany = async () => {
    for (let id = 1; id <= calls / atATime; id += 1)
      if ((await call({ id, name: 'Monstera', tag: 'climber' })) !== 'Monstera')
        throw new Error('another name');
  };
  const collections = new GCProfiler();
  collections.start();
  const heap = getHeapStatistics().used_heap_size;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: atATime }, callMany));
  const wallUs = ((performance.now() - began) * 1_000) / calls;
  const { user, system } = process.cpuUsage(cpu);
  const growth = getHeapStatistics().used_heap_size - heap;
  const { statistics } = collections.stop();
  const freed = statistics.map(
    ({ beforeGC, afterGC }) =>
      beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
  );
  const allocatedBytes = (growth + sum(freed)) / calls;
  return { wallUs, cpuUs: (user + system) / calls, allocatedBytes };
};

/** Measures every client with every setting, and its size in a bundle. */
export const compareClients = async (rounds: number): Promise<Parts['client']> => {
  await installPeers();
  const { createClients } = await importPeer('clients.mjs');
  const { bundleSizes } = await importPeer('bundle-sizes.mjs');
  return withServer({ ...baseline, core: 'any' }, async (port) => {
    const rows: Row[] = [];
    for (const { section, atATime, fetch } of settings) {
      const clients = createClients(`http://127.0.0.1:${port}`, token, fetch);
      const [bare, ...others] = Object.entries(clients).map(([name, call]) => ({
        name,
        section,
        measure: async () => measureCalls(call, atATime),
      }));
      if (bare !== undefined) rows.push(...(await runRounds(bare, others, { rounds, warmUps: 4 })));
    }
    return { rounds, baseline: 'bare fetch', rows, bundles: await bundleSizes() };
  });
};
