// `node bench/cores.ts`: real hosts, one or several on a port with a PostgreSQL behind them, and one on SQLite.
// In turns, as ratios to one host on PostgreSQL in the same round.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { freePort, startPostgres } from '../packages/postgres/test/postgres-server.ts';
import { type Child, startChild } from './child.ts';
import type { LoadOptions, LoadResult } from './load.ts';
import { token } from './token.ts';

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: `1,${Math.max(2, availableParallelism())}` },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '128' },
  },
});

const folder = await mkdtemp(join(tmpdir(), 'plantstore-cores-'));
const postgres = await startPostgres();

let stores = 0;
const newDatabase = async (): Promise<string> => {
  stores += 1;
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  await client.query(`CREATE DATABASE plants_${stores}`);
  await client.end();
  return postgres.url(`plants_${stores}`);
};
const newFile = async (): Promise<string> => {
  stores += 1;
  return `sqlite:${join(folder, `${stores}.db`)}`;
};

type Contender = {
  readonly name: string;
  readonly processes: number;
  readonly newStore: () => Promise<string>;
};
const contenders: readonly Contender[] = [
  ...values.processes.split(',').map((count) => ({
    name: `postgres, ${count} process${count === '1' ? '' : 'es'}`,
    processes: Number(count),
    newStore: newDatabase,
  })),
  { name: 'sqlite, 1 process', processes: 1, newStore: newFile },
];

/** Seconds of CPU time that the whole machine has used; others may run on it. */
const busySeconds = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice + times.irq, 0) / 1e3;

const startHost = async (port: number, database: string, isShared: boolean): Promise<Child> => {
  const healthPort = await freePort();
  const host = startChild('../packages/server/src/bin.ts', [], {
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

const cpuOf = async (hosts: readonly Child[]): Promise<number> => {
  const used = await Promise.all(hosts.map(async (host) => host.usage()));
  return used.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
};

const messageOf = async (child: Child): Promise<unknown> => {
  const gone = once(child.process, 'exit').then(() => {
    throw new Error('the load ended early');
  });
  const [message] = (await Promise.race([once(child.process, 'message'), gone])) as [unknown];
  return message;
};

/** What came of a round; of CPU time, how many cores were in use. */
type Measured = LoadResult & { readonly hostCpu: number; readonly restCpu: number };

const measure = async ({ processes, newStore }: Contender): Promise<Measured> => {
  const [port, database] = [await freePort(), await newStore()];
  const hosts: Child[] = [];
  try {
    while (hosts.length < processes) hosts.push(await startHost(port, database, processes > 1));
    const options: LoadOptions = {
      port,
      connections: Number(values.connections),
      seconds: Number(values.seconds),
      warmUpSeconds: 2,
      ids: 'random',
    };
    const generator = startChild('load.ts', [JSON.stringify(options)], { core: 'any' });
    await messageOf(generator);
    const before = { at: performance.now(), hosts: await cpuOf(hosts), machine: busySeconds() };
    await messageOf(generator);
    // Asked for now, or it would come while nobody listens.
    const told = messageOf(generator);
    const seconds = (performance.now() - before.at) / 1e3;
    const machineCpu = (busySeconds() - before.machine) / seconds;
    const hostCpu = ((await cpuOf(hosts)) - before.hosts) / seconds;
    const result = (await told) as LoadResult;
    return { ...result, hostCpu, restCpu: machineCpu - hostCpu - result.loadCpu };
  } finally {
    await Promise.all(hosts.map(async (host) => host.stop()));
  }
};

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

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
  const of = (pick: (one: Measured) => number) => median(own.map(pick));
  console.log(
    [
      name.padEnd(22),
      `×${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
      `${of(({ perSecond }) => perSecond).toFixed(0)}/s`,
      `p50 ${of(({ latency }) => latency.p50).toFixed(1)} ms`,
      `p99 ${of(({ latency }) => latency.p99).toFixed(1)} ms`,
      `cores: hosts ${of(({ hostCpu }) => hostCpu).toFixed(2)}`,
      `load ${of(({ loadCpu }) => loadCpu).toFixed(2)}`,
      `the rest ${of(({ restCpu }) => restCpu).toFixed(2)}`,
      `hosts ${of(({ hostCpu, perSecond }) => (hostCpu * 1e6) / perSecond).toFixed(0)} µs a plant`,
    ].join('  '),
  );
}
