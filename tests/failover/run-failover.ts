// Makes the leader of a real Patroni cluster fail in three ways while two servers create plants, and compares the
// acknowledged plants with those of the next leader. The exit status is 1 if an acknowledged plant is missing, a
// result is wrong, or the service does not recover by itself.
import { randomBytes } from 'node:crypto';
import { createClient } from '@plantstore/client';
import { type RunningProgram, startProgram, token } from '../black-box/program.ts';
import { findPrograms } from './debian-programs.ts';
import { type FailoverLoad, type Plant, startFailoverLoad } from './failover-load.ts';
import { createPatroniCluster, type PatroniCluster } from './patroni-cluster.ts';
import type { Node } from './patroni-settings.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/** Only ends a run that hangs. */
const limitMs = 900_000;
const database = 'garden';
const clientsPerServer = 8;
const enoughPlants = 20 * clientsPerServer;
/** A plant that must be found missing, so that the test cannot pass without comparing. */
const neverCreated: Plant = { id: 1n, name: 'never created' };

const startedAt = performance.now();
const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const log = (text: string): void => {
  console.log(`${inSeconds(performance.now() - startedAt).padStart(8)}  ${text}`);
};

const cleanups: (() => Promise<void>)[] = [];
const cleanup = (task: () => Promise<void>): void => {
  cleanups.push(task);
};
const loads: FailoverLoad[] = [];
const wrongResults = (): string[] => loads.flatMap((load) => load.wrongResults);
let cluster: PatroniCluster | undefined;
const faults: string[] = [];

/** Returns the plants that are missing on a leader or have other content there. */
const missingFrom = async ({ sql }: PatroniCluster, leader: Node, plants: readonly Plant[]) => {
  const statement = 'SELECT json_build_array(id::text, name, tag) FROM plants';
  const rows = await sql(leader, `${statement} WHERE NOT pg_is_in_recovery()`, database);
  const found = new Set(rows.split('\n').map((row) => JSON.stringify(JSON.parse(row || '[]'))));
  return plants.filter(
    ({ id, name, tag }) => !found.has(JSON.stringify([String(id), name, tag ?? null])),
  );
};

/** Runs one scenario, and records its faults. */
const runScenario = async (
  { name, lose }: Scenario,
  running: PatroniCluster,
  load: FailoverLoad,
  loadOn: (node: Node) => Promise<FailoverLoad>,
): Promise<void> => {
  const { leader, synchronous } = await running.healthy();
  await load.waitForAcknowledged(enoughPlants);
  log(`${name}: ${leader.name} is the leader, ${synchronous.name} the synchronous standby`);
  load.takeFigures();
  const repair = await lose({ cluster: running, leader, synchronous, load, loadOn, log });
  await load.waitForAcknowledged(enoughPlants);
  log('creates succeed again');
  await repair();
  const after = await running.healthy();
  await load.waitForAcknowledged(enoughPlants);
  const figures = load.takeFigures();
  const acknowledged = loads.flatMap((one) => one.acknowledged);
  const missing = await missingFrom(running, after.leader, [...acknowledged, neverCreated]);
  if (missing.pop() !== neverCreated) faults.push(`${name}: a missing plant was not found`);
  log(
    `${name}: ${figures.acknowledged} acknowledged (${acknowledged.length} so far), ` +
      `${missing.length} missing, ${wrongResults().length} wrong results; ` +
      `outage ${inSeconds(figures.longestOutageMs)}; ${after.leader.name} is the leader`,
  );
  if (after.leader === leader) faults.push(`${name}: ${leader.name} is the leader again`);
  faults.push(...missing.map(({ id }) => `${name}: the plant ${id} is missing`));
};

const runAll = async (): Promise<void> => {
  const running = await createPatroniCluster(findPrograms(), cleanup);
  cluster = running;
  await running.startAll();
  const password = randomBytes(16).toString('hex');
  const { leader } = await running.healthy();
  await running.sql(leader, `CREATE ROLE gardener LOGIN PASSWORD '${password}'`);
  await running.sql(leader, `CREATE DATABASE ${database} OWNER gardener`);

  const servers: RunningProgram[] = [];
  const startLoadOn = async (...nodesOfServers: (readonly Node[])[]) => {
    const clients = [];
    for (const nodes of nodesOfServers) {
      const addresses = nodes.map(({ postgresPort }) => `127.0.0.1:${postgresPort}`).join();
      const url = `postgres://gardener:${password}@${addresses}/${database}`;
      const server = await startProgram({ env: { PLANTSTORE_DATABASE: url } }, cleanup);
      servers.push(server);
      clients.push(
        createClient({ baseUrl: server.url.replace(/\/plants$/, ''), token, retries: 0 }),
      );
    }
    const load = startFailoverLoad(clients, clientsPerServer);
    loads.push(load);
    cleanup(load.stop);
    return load;
  };
  const load = await startLoadOn(running.nodes, running.nodes);

  for (const scenario of scenarios) {
    await runScenario(scenario, running, load, async (node) => startLoadOn([node]));
  }
  for (const { process: server, stdout, stderr } of servers) {
    if (server.exitCode !== null) faults.push(`a server exited: ${stderr()}`);
    if ((stdout() + stderr()).includes(password)) faults.push('a server logged the password');
  }
};

const interruption = new Promise<never>((_, reject) => {
  const interrupt = (reason: string) => () => reject(new Error(reason));
  setTimeout(interrupt(`not done within ${inSeconds(limitMs)}`), limitMs);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt(name));
});

const test = runAll();
// After an interruption, a rejection is ignored.
test.catch(() => {});
await Promise.race([test, interruption]).catch((thrown: unknown) => {
  faults.push(thrown instanceof Error ? thrown.message : String(thrown));
});
faults.push(...new Set(wrongResults()));
if (faults.length > 0) console.error((await cluster?.logs()) ?? '');
for (let task = cleanups.pop(); task !== undefined; task = cleanups.pop()) await task();
for (const fault of faults.slice(0, 20)) console.error(fault);
log(faults.length === 0 ? 'no acknowledged plant was lost' : `FAILED: ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
