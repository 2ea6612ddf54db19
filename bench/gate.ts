// `pnpm bench:gate` fails when the CPU time per request exceeds a limit. The limit is a ratio to a baseline in the
// same run, which is reproducible on a busy machine. Throughput is not.
import { join } from 'node:path';
import { allServers, baseline } from './contenders.ts';
import { withFolder } from './folder.ts';
import { runRounds } from './rounds.ts';
import { underLoad } from './servers.ts';

/**
 * Maximum CPU time per request, as a multiple of the baseline's, in the lower quartile of the rounds. Medians are 1.1 and
 * 1.6 on an AMD EPYC, 1.6 and 2.5 on an Intel Xeon. The rest is margin.
 */
const limits: Readonly<Record<string, number>> = {
  'ours, keeping nothing': 2,
  'ours, in memory, whole server, logging': 3,
};

const load = { connections: 64, seconds: 1, warmUpSeconds: 1.5 };
await withFolder(async (folder) => {
  const servers = allServers({
    newFile: () => join(folder, 'server'),
    newDatabase: async () => Promise.reject(new Error('no server with a limit uses a database')),
  });
  const contenders = servers.filter(({ name }) => name in limits);
  const rows = await runRounds(
    underLoad(baseline, load),
    contenders.map((server) => underLoad(server, load)),
    { rounds: 3 },
  );
  for (const [name, limit] of Object.entries(limits)) {
    const ratio = rows.find((row) => row.name === name)?.ratios['cpuUs']?.lower ?? Number.NaN;
    const isWithin = ratio <= limit;
    if (!isWithin) process.exitCode = 1;
    const verdict = isWithin ? 'ok' : 'too high';
    console.log(`${verdict}: ${name}: ×${ratio.toFixed(2)} CPU per request (at most ${limit})`);
  }
});
