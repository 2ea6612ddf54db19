// Measures every server under the same load, in rounds, as ratios to a bare server.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { connectSql } from '@plantstore/test-support/sql-client';
import { verifyServer } from './verify-server.ts';
import {
  allServers,
  baseline,
  type DatabaseOptions,
  peersFolder,
  type Stores,
} from './contenders.ts';
import { withFolder } from './folder.ts';
import type { Load } from './load.ts';
import peersManifest from './peers/package.json' with { type: 'json' };
import type { Parts } from './results.ts';
import { type Contender, runRounds } from './rounds.ts';
import { measureServer, messageOf, type Server } from './server.ts';

const run = promisify(execFile);

/** Installs the packages of the peers at exact versions, outside the workspace. */
export const installPeers = async (): Promise<void> => {
  await run('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile'], { cwd: peersFolder });
  // The decorators of Nest need a compiler.
  const compiler = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', join(peersFolder, 'nest')]);
};

/** Runs a task with a folder and a PostgreSQL server for stores, and removes them. */
export const withStores = async <T>(task: (stores: Stores) => Promise<T>): Promise<T> =>
  withFolder(async (folder) => {
    // Otherwise `commit_delay` applies only when other transactions are active.
    const postgres = await startPostgres('commit_siblings = 0', tmpdir());
    let count = 0;
    const newFile = () => {
      count += 1;
      return join(folder, `${count}.db`);
    };
    const newDatabase = async ({ commitDelayMs = 0 }: DatabaseOptions = {}) => {
      count += 1;
      const database = `plants_${count}`;
      const client = await connectSql(postgres.url());
      await client.query(`CREATE DATABASE ${database}`);
      await client.query(`ALTER DATABASE ${database} SET commit_delay = ${commitDelayMs * 1_000}`);
      await client.end();
      return postgres.url(database);
    };
    try {
      return await task({ newFile, newDatabase });
    } finally {
      await postgres.dispose();
    }
  });

/** Creates a contender from a server. */
export const underLoad = (server: Server, load: Load): Contender => ({
  ...server,
  measure: async () => measureServer(server, load),
});

/** Measures the servers with `only` in their names. Servers that fail the verification are left out. */
export const compareServers = async (
  load: Load,
  rounds: number,
  only: string,
  notify: (text: string) => void,
): Promise<Parts['servers']> =>
  withStores(async (stores) => {
    const leftOut: string[] = [];
    const leaveOut = (error: unknown) => {
      leftOut.push(messageOf(error));
      notify(`left out: ${messageOf(error)}`);
    };
    const chosen = allServers(stores).filter(({ name }) => name.includes(only));
    if (chosen.some(({ group }) => group === 'peer')) {
      notify('installing the peers');
      await installPeers();
    }
    const contenders: Contender[] = [];
    for (const server of chosen) {
      notify(`verifying ${server.name}`);
      await verifyServer(server).then(() => contenders.push(underLoad(server, load)), leaveOut);
    }
    const rows = await runRounds(underLoad(baseline, load), contenders, {
      rounds,
      betweenBaselines: 3,
      onFailure: (_, error) => leaveOut(error),
    });
    const versions = peersManifest.dependencies;
    return { ...load, rounds, baseline: baseline.name, rows, leftOut, versions };
  });
