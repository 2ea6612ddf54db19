// Measures the time from the start to the first response, and the idle memory, in comparison with a bare server.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseline, fastifyOn, wholeServerOn } from './contenders.ts';
import { withFolder } from './folder.ts';
import type { Part } from './results.ts';
import { type Figures, runRounds } from './rounds.ts';
import { post, type Server, withServer } from './server.ts';
import { installPeers } from './servers.ts';

/** Starts a server, sends it a plant, and measures its memory a second later. */
export const measureStart = async (server: Server): Promise<Figures> => {
  const began = performance.now();
  return withServer(server, async (port, child) => {
    const { status } = await post(port, { id: 1, name: 'Monstera' });
    if (status !== 200) throw new Error(`the first response was ${status}`);
    const firstResponseMs = performance.now() - began;
    await sleep(1_000);
    const { residentMiB } = await child.usage();
    return { firstResponseMs, atRestMiB: residentMiB };
  });
};

/** Starts the program and Fastify on a new file, and the bare server, alternately. */
export const compareStarts = async (rounds: number): Promise<Part> => {
  await installPeers();
  const bare = { name: baseline.name, measure: async () => measureStart(baseline) };
  const contenders = [
    { name: 'plantstore-server, sqlite', serverOn: wholeServerOn },
    { name: 'Fastify (ajv), node:sqlite, group commit', serverOn: fastifyOn },
  ].map(({ name, serverOn }) => ({
    name,
    measure: async () =>
      withFolder(async (folder) => measureStart(serverOn(join(folder, 'plants.db')))),
  }));
  // The first round reads the files from the disk.
  const rows = await runRounds(bare, contenders, { rounds, warmUps: 1 });
  return { rounds, baseline: bare.name, rows };
};
