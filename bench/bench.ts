// `pnpm bench` measures the servers and the growth, and writes results.json. `pnpm bench growth` and
// `pnpm bench servers` measure one of them, and `pnpm bench servers sqlite` those with this text in their names; they
// only print the table. `pnpm bench report` writes the pages and the plot from results.json.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { allServers, baseline, growingServers } from './contenders.ts';
import { measureServer, pinLoad, type Server, verifyServer } from './measure.ts';
import { type Results, stringifyResults, tableOf, writeReport } from './report.ts';
import { type Row, runRounds } from './rounds.ts';

const [part = 'all', only = ''] = process.argv.slice(2);
const rounds = 3;
const load = { connections: 64, seconds: 2, warmUpSeconds: 1.5 };
const resultsFile = join(import.meta.dirname, 'results.json');

if (part === 'report')
  await writeReport(JSON.parse(await readFile(resultsFile, 'utf8')) as Results);
else await measure();

async function measure(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'));
  const run = { date: new Date().toISOString(), machine: await machineOf(), rounds };
  const servers = part === 'growth' ? [] : await measureServers(folder);
  const growing = part === 'servers' ? [] : await growingServers(folder);
  const growth = await compare(growing);
  for (const rows of [servers, growth]) if (rows.length > 0) console.log(tableOf(rows));
  await rm(folder, { recursive: true });
  if (part === 'all') await writeFile(resultsFile, stringifyResults({ ...run, servers, growth }));
}

/** Measures the servers with a text in their names under the same load, as ratios to a bare server. */
async function measureServers(folder: string): Promise<readonly Row[]> {
  const peers = join(import.meta.dirname, 'peers');
  execFileSync('npm', ['install', '--no-package-lock'], { cwd: peers });
  const postgres = await startPostgres('', tmpdir());
  let count = 0;
  const newFile = () => join(folder, `${(count += 1)}.db`);
  const newDatabase = async () => {
    const database = `plants_${(count += 1)}`;
    const client = await connectSql(postgres.url());
    await client.query(`CREATE DATABASE ${database}`);
    await client.end();
    return postgres.url(database);
  };
  try {
    const servers = allServers(newFile, newDatabase);
    const chosen = servers.filter(({ name }) => name.includes(only));
    for (const server of chosen) await verifyServer(server);
    return await compare([baseline, ...chosen]);
  } finally {
    await postgres.dispose();
  }
}

async function compare(servers: readonly Server[]): Promise<readonly Row[]> {
  return runRounds(servers, rounds, async (server) => measureServer(server, load));
}

/** Describes the machine, on which the load gets a core of its own. */
async function machineOf(): Promise<string> {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const tmpfs = 0x01_02_19_94;
  return [
    `${cpus()[0]?.model}, ${cpus().length} cores, ${memory}, ${type()} ${release()}, Node ${process.versions.node}`,
    pinLoad() ? 'servers and load had a core each' : 'servers and load shared the cores',
    (await statfs(tmpdir())).type === tmpfs ? 'stores on a tmpfs, not durable' : 'stores on a disk',
  ].join('; ');
}
