import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { freePort } from '@plantstore/test-support/free-port';
import { mayMount, smallDiskCommand } from '@plantstore/test-support/small-disk';
import { describe, expect, it } from 'vitest';
import { bin, newFolder, post, spawnProgram, startProgram, token } from './program.ts';
import { acceptingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';

const program = [process.execPath, bin];

/** Starts a server whose log goes to a file or a pipe. */
const start = async (
  log: string,
  wrap: (command: string[]) => [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
) => {
  const port = await freePort();
  const server = spawnProgram({
    command: wrap(['sh', '-c', 'exec "$@" > "$0"', log, ...program]),
    args: ['--database', 'memory:', '--port', String(port)],
    env: { PLANTSTORE_TOKENS: token, ...env },
  });
  const url = `http://127.0.0.1:${port}/plants`;
  const create = async (count: number) => {
    for (let id = 0; id < count; id += 1) {
      expect(await post(url, `{"id":${id},"name":"Monstera"}`)).toMatchObject({ status: 200 });
    }
  };
  return { server, create };
};

type Line = Readonly<Record<string, unknown>>;

/** Returns a line of the log; `undefined` for half of one. */
const parse = (line: string): Line | undefined => {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
};

/** Lines in the log of requests with long paths, which exceed the buffer of a pipe. */
const requestLongPaths = async (url: string, requests: number) => {
  const path = 'x'.repeat(1_024);
  const left = Array.from({ length: requests }).values();
  const send = async () => {
    for (const _ of left) {
      expect((await fetch(`${url}/${path}`, { method: 'HEAD' })).status).toBe(404);
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
};

const linesOf = (log: string) => log.split('\n').filter(Boolean).map(parse);

/** Returns how many requests the log has, and how many lines it reports as missing. */
const count = (log: string) => {
  const lines = linesOf(log);
  const dropped = lines.flatMap((line) => line?.['dropped'] ?? []).map(Number);
  return {
    requests: lines.filter((line) => line?.['message'] === 'request').length,
    reports: dropped.length,
    dropped: dropped.reduce((sum, one) => sum + one, 0),
  };
};

const total = (log: string) => count(log).requests + count(log).dropped;

describe('lines of the log that cannot be written', () => {
  it('log lines that cannot be written are counted if the disk is full, and no line is joined to half of another', async ({
    skip,
  }) => {
    const folder = await newFolder();
    skip(!(await mayMount(folder)), 'this user cannot mount a small disk');
    const { server, create } = await start(`${folder}/log`, (command) =>
      smallDiskCommand(folder, command),
    );
    // The folder as the server sees it.
    const disk = `/proc/${server.process.pid}/root${folder}`;
    const readLog = async () => readFile(`${disk}/log`, 'utf8').catch(() => '');
    await expect.poll(readLog).toContain(acceptingMessage);
    await create(10);
    await writeFile(`${disk}/filler`, Buffer.alloc(4 << 20)).catch(() => undefined);
    await create(100);
    await rm(`${disk}/filler`);
    await create(10);
    // A line is written after its response.
    await expect.poll(async () => total(await readLog())).toBe(120);
    const { reports, dropped } = count(await readLog());
    expect(reports).toBe(1);
    expect(dropped).toBeGreaterThan(50);
    // The start of the first line that did not fit.
    const halves = linesOf(await readLog()).filter((line) => line === undefined);
    expect(halves.length).toBeLessThanOrEqual(1);
  });
});

describe('lines of the log at a stop', () => {
  it('log lines at a stop reach a reader that is slow', async () => {
    const requests = 100;
    const server = await startProgram();
    server.process.stdout?.pause();
    await requestLongPaths(server.url, requests);
    server.process.kill('SIGTERM');
    // The server has closed its port before it ends the log.
    const isClosed = async () => {
      const socket = connect(server.port, '127.0.0.1');
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      return !isOpen;
    };
    await expect.poll(isClosed).toBe(true);
    server.process.stdout?.resume();
    expect(await server.exited).toBe(0);
    expect(count(server.stdout()).reports).toBe(0);
    // And the lines that the server accepts plants, stops and has stopped.
    expect(linesOf(server.stdout())).toHaveLength(requests + 3);
  });

  it('log lines at a stop that are never read do not delay it beyond its deadline', async () => {
    const args = ['--shutdown-timeout-ms', '1'];
    const server = await startProgram({ args });
    server.process.stdout?.pause();
    await requestLongPaths(server.url, 100);
    const exited = once(server.process, 'exit');
    server.process.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    server.process.stdout?.resume();
  });
});
