import { open, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { freePort } from '@plantstore/test-support/free-port';
import { type PostgresServer, startPostgres } from '@plantstore/test-support/postgres-server';
import { runsAll } from '@plantstore/test-support/sample';
import { requiresLinux } from '@plantstore/test-support/requires';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder, post, spawnProgram, token } from './program.ts';
import { postOn } from './post-on.ts';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => postgres.dispose());

type Line = { readonly message: string; readonly status?: number };
/** Parses the lines of a log; throws if a line is incomplete. */
const linesOf = (log: string): Line[] =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

const settings = (port: number) => ({
  PLANTSTORE_PORT: String(port),
  PLANTSTORE_REUSE_PORT: 'on',
  PLANTSTORE_DATABASE: postgres.url(),
});

const clients = 64;
/** Number of acknowledged plants at which one of two servers is stopped. */
const enough = runsAll ? 1_000 : 250;

/** Returns the ids under which no plant is stored. */
const missingOf = async (ids: readonly number[], url: string): Promise<number[]> => {
  const remaining = [...ids];
  const missing: number[] = [];
  const checks = Array.from({ length: clients }, async () => {
    for (let id = remaining.pop(); id !== undefined; id = remaining.pop()) {
      const { error } = await post(url, `{"id":${id},"name":"another"}`);
      if (error !== 1401) missing.push(id);
    }
  });
  await Promise.all(checks);
  return missing;
};

// Windows and macOS do not support reusePort.
describe('servers on one port', requiresLinux, () => {
  it('servers on one port stop in turn under load, without a lost plant or an incomplete log line', async () => {
    const path = join(await newFolder(), 'plants.log');
    const log = await open(path, 'a');
    const port = await freePort();
    const start = async () => {
      const healthPort = await freePort();
      const env = { ...settings(port), PLANTSTORE_TOKENS: token };
      const args = ['--health-port', String(healthPort)];
      const server = spawnProgram({ args, env, stdout: log.fd });
      while (server.process.exitCode === null) {
        const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
        if (ready?.ok === true) return server;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(server.stderr());
    };
    const [one, other] = [await start(), await start()];
    const url = `http://127.0.0.1:${port}/plants`;
    const acknowledged: number[] = [];
    const failures: string[] = [];
    const isOver = () => one.process.exitCode !== null && acknowledged.length >= 2 * enough;
    const posting = Array.from({ length: clients }, async (_, client) => {
      // Half of the clients open a connection for each request.
      const agent = new Agent({ keepAlive: client % 2 === 0, maxSockets: 1 });
      for (let id = client; !isOver();) {
        const result = await postOn(agent, url, id);
        if ('failed' in result) {
          failures.push(`${result.failed} on ${result.connection}`);
          // Retries with the same plant, as @plantstore/client does.
          continue;
        }
        if (result.status !== 200) throw new Error(`status ${result.status}`);
        id += clients;
        acknowledged.push(id - clients);
        if (acknowledged.length === enough) one.process.kill('SIGTERM');
      }
      agent.destroy();
    });
    await Promise.all(posting);
    expect(await one.exited).toBe(0);
    console.log(
      `${acknowledged.length} requests acknowledged; ${failures.length} connections were reset`,
    );
    // The kernel resets connections that the closing server has not accepted, and a client can be late for one that was
    // closed while idle; every other request gets a response.
    const permitted = /^(ECONNRESET|EPIPE) on (new|idle)$/;
    expect(failures.filter((failure) => !permitted.test(failure))).toEqual([]);
    expect(await missingOf(acknowledged, url)).toEqual([]);
    other.process.kill('SIGTERM');
    expect(await other.exited).toBe(0);
    await log.close();
    const lines = linesOf(await readFile(path, 'utf8'));
    expect(lines.filter(({ message }) => message === 'stopped')).toHaveLength(2);
    expect(lines.filter(({ status }) => status === 200)).toHaveLength(acknowledged.length);
  });
});
