import { open, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import {
  freePort,
  type PostgresServer,
  startPostgres,
} from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder, post, spawnHost, startHost, token } from './host.ts';
import { postOn } from './post-on.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => server.dispose());

type Line = { readonly message: string; readonly status?: number };
/** The lines of a log; fails where one is not whole. */
const linesOf = (log: string): Line[] =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

const settings = (port: number) => ({
  PLANTSTORE_PORT: String(port),
  PLANTSTORE_REUSE_PORT: 'on',
  PLANTSTORE_DATABASE: server.url(),
});

const clients = 64;

/** Which ids could be given to another plant. */
const missingOf = async (ids: readonly number[], url: string): Promise<number[]> => {
  const left = [...ids];
  const missing: number[] = [];
  const asking = Array.from({ length: clients }, async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const { error } = await post(url, `{"id":${id},"name":"another"}`);
      if (error !== 1401) missing.push(id);
    }
  });
  await Promise.all(asking);
  return missing;
};

// Windows and macOS cannot.
describe.runIf(process.platform === 'linux')('hosts on one port', () => {
  it('share what comes, and of rivals for an id one wins, whoever is asked', async () => {
    const env = settings(await freePort());
    const hosts = [await startHost({ env }), await startHost({ env })] as const;
    const [{ url }] = hosts;
    const told = await Promise.all(
      Array.from({ length: 200 }, async (_, rival) => post(url, `{"id":-7,"name":"${rival}"}`)),
    );
    expect(told.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(told.filter(({ error }) => error === 1401)).toHaveLength(199);
    for (const { process } of hosts) process.kill('SIGTERM');
    expect(await Promise.all(hosts.map(async ({ exited }) => exited))).toEqual([0, 0]);
    const served = hosts.map(
      ({ stdout }) => linesOf(stdout()).filter(({ message }) => message === 'request').length,
    );
    console.log(
      `of 200 requests on connections of their own, the hosts served ${served.join(' and ')}`,
    );
    expect(Math.min(...served)).toBeGreaterThan(0);
    expect(served.reduce((sum, count) => sum + count)).toBe(200);
  }, 60_000);

  it('stop one by one under load: no plant is missing, no log line is broken, the other goes on', async () => {
    const path = join(await newFolder(), 'plants.log');
    const log = await open(path, 'a');
    const port = await freePort();
    const start = async () => {
      const healthPort = await freePort();
      const env = { ...settings(port), PLANTSTORE_TOKENS: token };
      const args = ['--health-port', String(healthPort)];
      const host = spawnHost({ args, env, stdout: log.fd });
      while (host.process.exitCode === null) {
        const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
        if (ready?.ok === true) return host;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(host.stderr());
    };
    const [one, other] = [await start(), await start()];
    const url = `http://127.0.0.1:${port}/plants`;
    const answered: number[] = [];
    const failures: string[] = [];
    const isOver = () => one.process.exitCode !== null && answered.length >= 2_000;
    const posting = Array.from({ length: clients }, async (_, client) => {
      // Half of them come on a new connection each time.
      const agent = new Agent({ keepAlive: client % 2 === 0, maxSockets: 1 });
      for (let id = client; !isOver();) {
        const told = await postOn(agent, url, id);
        if ('failed' in told) {
          failures.push(`${told.failed} on ${told.isFirst ? 'a new' : 'an old'} connection`);
          // As our client does: the same plant again.
          continue;
        }
        if (told.status !== 200) throw new Error(`status ${told.status}`);
        id += clients;
        answered.push(id - clients);
        if (answered.length === 1_000) one.process.kill('SIGTERM');
      }
      agent.destroy();
    });
    await Promise.all(posting);
    expect(await one.exited).toBe(0);
    console.log(
      `${answered.length} requests answered; ${failures.length} connections that the stopped host had not accepted were reset`,
    );
    // The system's doing, in the queue of a socket that closes; whom the host has accepted, it answers.
    expect(failures.filter((failure) => !/^(ECONNRESET|EPIPE) on a new/.test(failure))).toEqual([]);
    expect(await missingOf(answered, url)).toEqual([]);
    other.process.kill('SIGTERM');
    expect(await other.exited).toBe(0);
    await log.close();
    const lines = linesOf(await readFile(path, 'utf8'));
    expect(lines.filter(({ message }) => message === 'stopped')).toHaveLength(2);
    expect(lines.filter(({ status }) => status === 200)).toHaveLength(answered.length);
  }, 120_000);
});
