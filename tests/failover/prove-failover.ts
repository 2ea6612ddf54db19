// Loses the leader of a real Patroni cluster in three ways while two hosts create plants, and
// compares what clients were told with what the next leader has. Exit status 1 if a plant that was
// acknowledged is missing, an answer was wrong, or service did not come back by itself. At the end, the
// leader is lost without synchronous replication: exit status 1 if no plant is found missing then.
import { randomBytes } from 'node:crypto';
import { createClient } from '@plantstore/client';
import { type RunningHost, startHost, token } from '../black-box/host.ts';
import { findPrograms } from './debian-programs.ts';
import { type FailoverLoad, startFailoverLoad } from './failover-load.ts';
import { database, missingFrom } from './missing-plants.ts';
import { runNegativeControl } from './negative-control.ts';
import { createPatroniCluster, type PatroniCluster } from './patroni-cluster.ts';
import type { Node } from './patroni-settings.ts';
import { type Scenario, scenarios } from './scenarios.ts';

// Less than four minutes with what it takes to clean up.
const limitMs = 230_000;
const clientsPerHost = 8;
const enoughPlants = 20 * clientsPerHost;

const startedAt = performance.now();
const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const say = (text: string): void => {
  console.log(`${inSeconds(performance.now() - startedAt).padStart(8)}  ${text}`);
};

const cleanups: (() => Promise<void>)[] = [];
const cleanup = (task: () => Promise<void>): void => {
  cleanups.push(task);
};
const loads: FailoverLoad[] = [];
const wrongAnswers = (): string[] => loads.flatMap((load) => load.wrongAnswers);
let cluster: PatroniCluster | undefined;
const faults: string[] = [];

/** Runs one scenario. */
const prove = async (
  { name, lose }: Scenario,
  running: PatroniCluster,
  load: FailoverLoad,
  loadOn: (node: Node) => Promise<FailoverLoad>,
): Promise<void> => {
  const { leader, synchronous } = await running.whole();
  await load.served(enoughPlants);
  say(`${name}: ${leader.name} leads, ${synchronous.name} confirms`);
  load.takeFigures();
  const mend = await lose({ cluster: running, leader, synchronous, load, loadOn, say });
  await load.served(enoughPlants);
  say('creates are answered again');
  await mend();
  const after = await running.whole();
  await load.served(enoughPlants);
  const figures = load.takeFigures();
  const acknowledged = loads.flatMap((one) => one.acknowledged);
  const missing = await missingFrom(running, after.leader, acknowledged);
  say(
    `${name}: ${figures.acknowledged} acknowledged (${acknowledged.length} so far), ` +
      `${missing.length} missing, ${wrongAnswers().length} wrong answers; ` +
      `outage ${inSeconds(figures.longestSilenceMs)}, for one client up to ${inSeconds(figures.longestWaitMs)}, ` +
      `${figures.repeated} requests repeated; ${after.leader.name} leads`,
  );
  if (after.leader === leader) faults.push(`${name}: ${leader.name} leads again`);
  faults.push(...missing.map(({ id }) => `${name}: the plant ${id} is missing`));
};

/** Shows that the proof finds missing plants where there are some. */
const proveControl = async (running: PatroniCluster, load: FailoverLoad): Promise<void> => {
  const name = 'control, without synchronous replication';
  const missing = await runNegativeControl(running, load, enoughPlants);
  say(`${name}: ${missing.unreplicated} missing, at least ${enoughPlants} expected`);
  if (missing.unreplicated < enoughPlants) faults.push(`${name}: missing plants were not found`);
  if (missing.replicated > 0)
    faults.push(`${name}: ${missing.replicated} earlier plants are missing`);
};

const proveAll = async (): Promise<void> => {
  const running = await createPatroniCluster(findPrograms(), cleanup);
  cluster = running;
  await running.startAll();
  const password = randomBytes(16).toString('hex');
  const { leader } = await running.whole();
  await running.sql(leader, `CREATE ROLE gardener LOGIN PASSWORD '${password}'`);
  await running.sql(leader, `CREATE DATABASE ${database} OWNER gardener`);

  const hosts: RunningHost[] = [];
  const startLoadOn = async (...serversOfHosts: (readonly Node[])[]) => {
    const clients = [];
    for (const nodes of serversOfHosts) {
      const servers = nodes.map(({ postgresPort }) => `127.0.0.1:${postgresPort}`).join();
      const url = `postgres://gardener:${password}@${servers}/${database}`;
      const host = await startHost({ env: { PLANTSTORE_DATABASE: url } }, cleanup);
      hosts.push(host);
      clients.push(createClient({ baseUrl: host.url.replace(/\/plants$/, ''), token, retries: 0 }));
    }
    const load = startFailoverLoad(clients, clientsPerHost);
    loads.push(load);
    cleanup(load.stop);
    return load;
  };
  const load = await startLoadOn(running.nodes, running.nodes);

  for (const scenario of scenarios) {
    await prove(scenario, running, load, async (node) => startLoadOn([node]));
  }
  await proveControl(running, load);
  for (const { process: host, stdout, stderr } of hosts) {
    if (host.exitCode !== null) faults.push(`a host ended: ${stderr()}`);
    if ((stdout() + stderr()).includes(password)) faults.push('a host told the password');
  }
};

const interruption = new Promise<never>((_, reject) => {
  const end = (why: string) => () => reject(new Error(why));
  setTimeout(end(`not done within ${inSeconds(limitMs)}`), limitMs);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end(name));
});

const proof = proveAll();
// What it comes to after an interruption is nobody's concern.
proof.catch(() => {});
await Promise.race([proof, interruption]).catch((thrown: unknown) => {
  faults.push(thrown instanceof Error ? thrown.message : String(thrown));
});
faults.push(...new Set(wrongAnswers()));
if (faults.length > 0) console.error((await cluster?.logs()) ?? '');
for (let task = cleanups.pop(); task !== undefined; task = cleanups.pop()) await task();
for (const fault of faults.slice(0, 20)) console.error(fault);
say(
  faults.length === 0
    ? 'no acknowledged plant was lost, and the control found missing plants'
    : `FAILED: ${faults.length} faults`,
);
process.exit(faults.length === 0 ? 0 : 1);
