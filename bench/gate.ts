// `pnpm bench:gate` fails when the CPU time per request, as a ratio to a baseline in the same run, or the memory
// exceeds a limit. Both are reproducible on a busy machine. Throughput is not.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allServers, baseline } from './contenders.ts';
import { measureServer, pinLoad } from './measure.ts';
import { runRounds } from './rounds.ts';

pinLoad();
const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'));
const servers = allServers(
  () => join(folder, crypto.randomUUID()),
  () => 'no server with a limit uses PostgreSQL',
).filter(({ name }) => ['ours, in memory, whole server, logging', 'ours, sqlite'].includes(name));
const load = { connections: 64, seconds: 1, warmUpSeconds: 1 };
const rows = await runRounds([baseline, ...servers], 2, async (one) => measureServer(one, load));
await rm(folder, { recursive: true });

const [, inMemory, onSqlite] = rows;
// The baseline is mostly system calls, so the ratio depends on the machine: the same code had medians of 1.6 on one
// AMD EPYC, 2.5 on an Intel Xeon and 2.9 on another EPYC. The rest is margin.
compare('CPU per request, in times that of a bare server', inMemory?.ratios['cpuUs']?.lower, 3.5);
// 146 was measured. It was 262 while the garbage collection of the young generation copied requests that had ended.
compare('resident MiB at the end of the load', onSqlite?.figures['residentMiB']?.lower, 220);

function compare(what: string, measured = Number.NaN, limit: number): void {
  const isWithin = measured <= limit;
  if (!isWithin) process.exitCode = 1;
  console.log(`${isWithin ? 'ok' : 'too high'}: ${what}: ${measured.toFixed(2)}, limit ${limit}`);
}
