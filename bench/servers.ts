import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { allServers, baseline, peersFolder, type Stores } from './contenders.ts';
import { withFolder } from './folder.ts';
import type { Load } from './load.ts';
import type { Parts } from './results.ts';
import { type Contender, runRounds } from './rounds.ts';
import { measureServer, type Server, verifyServer } from './server.ts';

/** Measures the servers with `only` in their names under the same load, as ratios to a bare server. */
export async function compareServers(
  load: Load,
  rounds: number,
  only: string,
  notify: (text: string) => void,
): Promise<Parts['servers']> {
  return withStores(async (stores) => {
    const chosen = allServers(stores).filter(({ name }) => name.includes(only));
    if (chosen.some(({ group }) => group === 'peer')) {
      notify('installing the peers');
      const install = ['-y', 'pnpm@12', 'install'];
      await promisify(execFile)('npx', install, { cwd: peersFolder });
    }
    for (const server of chosen) {
      notify(`verifying ${server.name}`);
      await verifyServer(server);
    }
    const contenders = chosen.map((server) => underLoad(server, load));
    const rows = await runRounds(underLoad(baseline, load), contenders, {
      rounds,
      betweenBaselines: 3,
    });
    return { rounds, baseline: baseline.name, rows };
  });
}

/** Creates a contender from a server. */
export function underLoad(server: Server, load: Load): Contender {
  return { ...server, measure: async () => measureServer(server, load) };
}

/** Runs a task with a folder and a PostgreSQL server for stores, and removes them. */
async function withStores<T>(task: (stores: Stores) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
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
      return await task({ newFile, newDatabase });
    } finally {
      await postgres.dispose();
    }
  });
}
