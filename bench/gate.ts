// `pnpm bench:gate` fails when the CPU time per request, as a ratio to a baseline in the same run, or the memory
// exceeds a limit. Both are reproducible on a busy machine. Throughput is not.
import { join } from 'node:path';
import { allServers, baseline } from './contenders.ts';
import { withFolder } from './folder.ts';
import { runRounds } from './rounds.ts';
import { underLoad } from './servers.ts';

/**
 * Maximum CPU time per request, as a multiple of the baseline's, in the lower quartile of the rounds. The baseline is mostly
 * system calls, so the ratios depend on the machine: the same code had medians of 1.1 and 1.6 on one AMD EPYC, 1.6 and
 * 2.5 on an Intel Xeon, 2.0 and 2.9 on another EPYC. The rest is margin.
 */
const maxCpu: Readonly<Record<string, number>> = {
  'ours, keeping nothing': 2.5,
  'ours, in memory, whole server, logging': 3.5,
};

/**
 * Maximum resident memory at the end of the load, in MiB; 146 was measured. It was 262 while requests that had ended were
 * copied by the young generation's garbage collection, which also took a quarter of the CPU time.
 */
const maxResident: Readonly<Record<string, number>> = { 'ours, sqlite': 220 };

const load = { connections: 64, seconds: 1, warmUpSeconds: 1.5 };
await withFolder(async (folder) => {
  let files = 0;
  const servers = allServers({
    newFile: () => join(folder, String((files += 1))),
    newDatabase: async () => Promise.reject(new Error('no server with a limit uses a database')),
  });
  const contenders = servers.filter(({ name }) => name in maxCpu || name in maxResident);
  const rows = await runRounds(
    underLoad(baseline, load),
    contenders.map((server) => underLoad(server, load)),
    { rounds: 3 },
  );
  const rowOf = (name: string) => rows.find((row) => row.name === name);
  for (const [name, limit] of Object.entries(maxCpu))
    compare(`${name}: CPU per request over bare`, rowOf(name)?.ratios['cpuUs']?.lower, limit);
  for (const [name, limit] of Object.entries(maxResident))
    compare(`${name}: resident MiB`, rowOf(name)?.figures['residentMiB']?.lower, limit);
});

function compare(what: string, measured = Number.NaN, limit: number): void {
  const isWithin = measured <= limit;
  if (!isWithin) process.exitCode = 1;
  console.log(
    `${isWithin ? 'ok' : 'too high'}: ${what}: ${measured.toFixed(2)} (at most ${limit})`,
  );
}
