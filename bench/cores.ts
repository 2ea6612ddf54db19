// `node bench/cores.ts`: real hosts, one or several on a port with a PostgreSQL behind them, and one on SQLite.
// In turns, as ratios to one host on PostgreSQL in the same round. Where the machine has no core to spare for
// another process, `--core-share 0.15` lets each host have but a part of one, and shows whether it grows.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort, startPostgres } from '../packages/postgres/test/postgres-server.ts';
import { bin, buildIfStale } from './build.ts';
import { type Child, startChild } from './child.ts';
import type { LoadOptions, LoadResult } from './load.ts';
import { inWords, spreadOf } from './spread.ts';
import { storesIn } from './stores.ts';
import { token } from './token.ts';

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: `1,${Math.max(2, availableParallelism())}` },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '256' },
    'core-share': { type: 'string', default: '1' },
  },
});

buildIfStale();

const folder = await mkdtemp(join(tmpdir(), 'plantstore-cores-'));
const postgres = await startPostgres();

const { newDatabase, newFile } = storesIn(folder, postgres);

type Contender = {
  readonly name: string;
  readonly processes: number;
  readonly newStore: () => Promise<string>;
};
const contenders: readonly Contender[] = [
  ...values.processes.split(',').map((count) => ({
    name: `postgres, ${count} process${count === '1' ? '' : 'es'}`,
    processes: Number(count),
    newStore: async () => newDatabase(),
  })),
  { name: 'sqlite, 1 process', processes: 1, newStore: async () => `sqlite:${newFile()}` },
];

const ticksPerSecond = 100;

/** Seconds of CPU time that PostgreSQL has used, all its processes together (Linux only). */
const postgresSeconds = async (): Promise<number> => {
  const pidFile = await readFile(join(postgres.folder, 'data/postmaster.pid'), 'utf8');
  const [pid = ''] = pidFile.split('\n');
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const ticks = [pid, ...children.trim().split(' ')].map(async (one) => {
    const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
    // In user and system mode, its own and of children that have ended.
    const told = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return told.slice(11, 15).reduce((sum, count) => sum + Number(count), 0);
  });
  return (await Promise.all(ticks)).reduce((sum, count) => sum + count) / ticksPerSecond;
};

/** Seconds of CPU time that the whole machine has used; others may run on it. */
const machineSeconds = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice + times.irq, 0) / 1e3;

const startHost = async (port: number, database: string, isShared: boolean): Promise<Child> => {
  const healthPort = await freePort();
  const host = startChild(bin, [], {
    core: 'any',
    env: {
      PLANTSTORE_PORT: String(port),
      PLANTSTORE_REUSE_PORT: isShared ? 'on' : 'off',
      PLANTSTORE_HEALTH_PORT: String(healthPort),
      PLANTSTORE_DATABASE: database,
      PLANTSTORE_TOKENS: token,
    },
  });
  while (host.process.exitCode === null) {
    const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
    if (ready?.ok === true) return host;
    await sleep(20);
  }
  throw new Error('a host ended before it was ready');
};

/** Lets a host run for a part of the time only. */
const hold = async ({ process: host }: Child, share: number): Promise<void> => {
  const spanMs = 60;
  if (share >= 1) return;
  // Not all at the same time.
  await sleep(Math.random() * spanMs);
  while (host.exitCode === null && host.signalCode === null) {
    host.kill('SIGSTOP');
    await sleep(spanMs * (1 - share));
    host.kill('SIGCONT');
    await sleep(spanMs * share);
  }
};

type CpuSeconds = Readonly<Record<'hosts' | 'postgres' | 'machine', number>>;

const cpuSeconds = async (hosts: readonly Child[]): Promise<CpuSeconds> => {
  const [used, ofPostgres] = await Promise.all([
    Promise.all(hosts.map(async (host) => host.usage())),
    postgresSeconds(),
  ]);
  return {
    hosts: used.reduce((sum, one) => sum + one.cpuSeconds, 0),
    postgres: ofPostgres,
    machine: machineSeconds(),
  };
};

/** What came of a round, and how many cores were in use, and by whom. */
type Measured = LoadResult & { readonly cores: CpuSeconds };

const measure = async ({ processes, newStore }: Contender): Promise<Measured> => {
  const [port, database] = [await freePort(), await newStore()];
  const hosts: Child[] = [];
  try {
    while (hosts.length < processes) hosts.push(await startHost(port, database, processes > 1));
    for (const host of hosts) void hold(host, Number(values['core-share']));
    const options: LoadOptions = {
      port,
      connections: Number(values.connections),
      seconds: Number(values.seconds),
      warmUpSeconds: 2,
      ids: 'random',
    };
    const generator = startChild('load.ts', [JSON.stringify(options)], { core: 'any' });
    await generator.next();
    const before = { at: performance.now(), ...(await cpuSeconds(hosts)) };
    await generator.next();
    const seconds = (performance.now() - before.at) / 1e3;
    const after = await cpuSeconds(hosts);
    const used = (of: keyof CpuSeconds) => (after[of] - before[of]) / seconds;
    const cores = { hosts: used('hosts'), postgres: used('postgres'), machine: used('machine') };
    return { ...((await generator.next()) as LoadResult), cores };
  } finally {
    await Promise.all(hosts.map(async (host) => host.stop()));
  }
};

const median = (numbers: readonly number[]): number => spreadOf(numbers).median;

const rounds: (readonly Measured[])[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const told: Measured[] = [];
    for (const contender of contenders) told.push(await measure(contender));
    rounds.push(told);
  }
} finally {
  await postgres.dispose();
  await rm(folder, { recursive: true, force: true });
}

console.log(`${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, Node ${process.version}`);
console.log(
  `${values.connections} connections, median (least–most) of ${values.rounds} rounds; load, hosts and PostgreSQL share the cores\n`,
);
for (const [index, { name }] of contenders.entries()) {
  const own = rounds.flatMap((told) => told[index] ?? []);
  const ratios = rounds.map(
    (told) => (told[index]?.perSecond ?? Number.NaN) / (told[0]?.perSecond ?? Number.NaN),
  );
  const of = (pick: (one: Measured) => number, digits = 0) => median(own.map(pick)).toFixed(digits);
  console.log(
    [
      name.padEnd(22),
      `×${inWords(spreadOf(ratios))}`,
      `${of(({ perSecond }) => perSecond)}/s`,
      `p50 ${of(({ latency }) => latency.p50, 1)} ms`,
      `p99 ${of(({ latency }) => latency.p99, 1)} ms`,
      `cores: hosts ${of(({ cores }) => cores.hosts, 2)}`,
      `PostgreSQL ${of(({ cores }) => cores.postgres, 2)}`,
      `load ${of(({ loadCpu }) => loadCpu, 2)}`,
      `of ${of(({ cores }) => cores.machine, 2)} in use`,
      `µs a plant: hosts ${of(({ cores, perSecond }) => (cores.hosts * 1e6) / perSecond)}`,
      `PostgreSQL ${of(({ cores, perSecond }) => (cores.postgres * 1e6) / perSecond)}`,
    ].join('  '),
  );
}
