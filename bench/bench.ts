// `pnpm bench`: every server in turn, several rounds, as ratios to a bare server measured between them.
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startPostgres } from '../packages/postgres/test/postgres-server.ts';
import { check } from './check.ts';
import { canPin } from './child.ts';
import { ours, rawSocket } from './contenders.ts';
import { type Contender, type Load, measure, measureDisk, textOf } from './measure.ts';
import { installPeers, peers, peerVersions, type Stores } from './peers.ts';
import type { Machine, Results } from './results.ts';
import { type Entry, runRounds, summarize, summarizeBaseline } from './rounds.ts';
import { tableOf } from './table.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    only: { type: 'string', default: '' },
    json: { type: 'string', default: join(import.meta.dirname, 'results.json') },
  },
});
const load: Load = {
  connections: Number(values.connections),
  seconds: Number(values.seconds),
  warmUpSeconds: 1.5,
};
const rounds = Number(values.rounds);

/** How it goes on, which is not part of what it prints. */
const tell = (text: string) => process.stderr.write(`${text}\n`);

const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'));
const isTmpfs = (await statfs(folder)).type === 0x01_02_19_94;

const machine: Machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  os: `${type()} ${release()}`,
  node: process.version,
  isPinned: canPin,
  storesOn: isTmpfs ? 'memory' : 'disk',
};

const storesIn = (url: (database?: string) => string): Stores => {
  let count = 0;
  return {
    newFile: () => {
      count += 1;
      return join(folder, `${count}.db`);
    },
    newDatabase: async () => {
      count += 1;
      const client = new pg.Client({ connectionString: url() });
      await client.connect();
      await client.query(`CREATE DATABASE plants_${count}`);
      await client.end();
      return url(`plants_${count}`);
    },
  };
};

const leftOut: { readonly name: string; readonly why: string }[] = [];
const leaveOut = (name: string, why: string) => {
  leftOut.push({ name, why });
  tell(`left out: ${why}`);
};

const isChosen = ({ name }: { readonly name: string }) => name.includes(values.only);

/** Those that do the job; the others are left out. */
const checked = async (contenders: readonly Contender[]): Promise<Contender[]> => {
  const passed: Contender[] = [];
  for (const contender of contenders) {
    try {
      await check(contender);
      passed.push(contender);
    } catch (thrown) {
      leaveOut(contender.name, textOf(thrown));
    }
  }
  return passed;
};

const peersThatInstall = async (stores: Stores): Promise<readonly Contender[]> => {
  const chosen = peers(stores).filter(isChosen);
  if (chosen.length === 0) return [];
  tell('installing the peers');
  try {
    await installPeers();
    return chosen;
  } catch (thrown) {
    for (const { name } of chosen)
      leaveOut(name, `${name}: the peers do not install: ${textOf(thrown)}`);
    return [];
  }
};

const entriesOn = async (stores: Stores): Promise<Entry[]> => {
  const all = [...ours(stores).filter(isChosen), ...(await peersThatInstall(stores))];
  tell('checking that all do the same job');
  const limits: Entry[] = [
    { ...rawSocket, measure: async (how) => measure(rawSocket, how) },
    {
      name: `disk: append and fdatasync by ${load.connections}`,
      group: 'limit',
      measure: async (how) => measureDisk(stores.newFile(), how),
    },
  ];
  const servers = (await checked(all)).map((contender) => ({
    name: contender.name,
    group: contender.group,
    measure: async (how: Load) => measure(contender, how),
  }));
  return [...limits, ...servers];
};

const postgres = await startPostgres();
try {
  const entries = await entriesOn(storesIn(postgres.url));
  const { base, samples, failed } = await runRounds(entries, load, { rounds, tell });
  for (const [name, why] of failed) leftOut.push({ name, why });
  const results: Results = {
    date: new Date().toISOString(),
    machine,
    options: { ...load, rounds, only: values.only },
    baseline: summarizeBaseline(base),
    contenders: entries
      .filter(({ name }) => !failed.has(name))
      .map((entry) => summarize(entry, samples.get(entry.name) ?? [])),
    leftOut,
    peerVersions: await peerVersions(),
  };
  await writeFile(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
  console.log(tableOf(results));
  tell(`written: ${values.json}`);
} finally {
  await postgres.dispose();
  await rm(folder, { recursive: true, force: true });
}
if (leftOut.length > 0) process.exitCode = 1;
