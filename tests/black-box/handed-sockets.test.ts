import { type StdioOptions, spawnSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { requiresPosix } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  bin,
  type ProgramOptions,
  type ProgramProcess,
  neededVariables,
  newFolder,
  post,
  spawnProgram,
  startProgram,
  token,
  untilLogged,
  untilOutput,
} from './program.ts';
import { postOn } from './post-on.ts';
import { acceptingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';

const holder = fileURLToPath(new URL('hold-sockets.ts', import.meta.url));
const program = [process.execPath, bin];
const memory = ['--database', 'memory:'];

type Line = Readonly<Record<string, unknown>>;
const linesOf = ({ stdout }: ProgramProcess): Line[] =>
  stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

const startsOf = (server: ProgramProcess): Line[] =>
  linesOf(server).filter(({ url }) => url !== undefined);

/** The process id of the server that was started last. */
const pidOf = (server: ProgramProcess): number => Number(startsOf(server).at(-1)?.['pid']);

/** Runs the program with sockets that outlive it, as often as it is stopped. */
const startHolder = async (
  starts: number,
  { args = [], env = {} }: Pick<ProgramOptions, 'args' | 'env'>,
): Promise<ProgramProcess & { readonly url: string }> => {
  const server = spawnProgram({
    command: [process.execPath, holder, String(starts), ...program],
    args,
    env: { PLANTSTORE_TOKENS: token, ...env },
  });
  onTestFinished(() => {
    try {
      process.kill(pidOf(server), 'SIGKILL');
    } catch {
      // It has ended.
    }
  });
  await untilOutput(server, () => startsOf(server).length > 0);
  return { ...server, url: String(startsOf(server)[0]?.['url']) };
};

// Windows has no such descriptors.
describe('server with a handed-over socket', requiresPosix, () => {
  it('the server with a handed-over socket refuses and resets no new or active connection of 16 clients through several restarts, and loses no plant', async () => {
    const clients = 16;
    const restarts = 2;
    const path = join(await newFolder(), 'plants.db');
    const server = await startHolder(restarts + 1, { args: ['--database', `sqlite:${path}`] });
    const acknowledged: number[] = [];
    const failures: string[] = [];
    let stops = 0;
    const isOver = () => stops > restarts;
    /** Stops the server each time that it has created 100 plants since its start. */
    const stopInTurn = () => {
      if (startsOf(server).length === stops || acknowledged.length < 100 * (stops + 1)) return;
      stops += 1;
      if (!isOver()) process.kill(pidOf(server), 'SIGTERM');
    };
    const posting = Array.from({ length: clients }, async (_, client) => {
      // Half of the clients open a connection for each request.
      const agent = new Agent({ keepAlive: client % 2 === 0, maxSockets: 1 });
      for (let id = client; !isOver(); id += clients) {
        let result = await postOn(agent, server.url, id);
        // On a busy machine, a client can be late for an idle connection that a stop closes (RFC 9112 §9.3.1).
        while ('failed' in result && result.connection === 'idle')
          result = await postOn(agent, server.url, id);
        if ('failed' in result) failures.push(`${result.failed} on ${result.connection}`);
        else if (result.status === 200) acknowledged.push(id);
        else failures.push(`status ${result.status}`);
        stopInTurn();
      }
      agent.destroy();
    });
    await Promise.all(posting);
    process.kill(pidOf(server), 'SIGTERM');
    expect(await server.exited).toBe(0);
    console.log(`${acknowledged.length} plants through ${restarts} restarts of the server`);
    expect(failures).toEqual([]);
    expect(startsOf(server).map(({ url }) => url)).toEqual(
      Array.from({ length: restarts + 1 }, () => server.url),
    );
    const database = new DatabaseSync(path);
    const stored = database.prepare('SELECT id FROM plants ORDER BY id').all();
    database.close();
    expect(stored.map(({ id }) => id)).toEqual(acknowledged.toSorted((one, other) => one - other));
  });

  it('the server with a handed-over socket uses the socket named health as its health port', async () => {
    const args = [...memory, '--metrics', 'on', '--health-port', '3001'];
    const server = await startHolder(1, {
      args,
      env: { LISTEN_FDNAMES: 'plantstore.socket:health' },
    });
    const [first] = startsOf(server);
    expect(first?.['message']).toBe(`${acceptingMessage} on the handed-over socket (LISTEN_FDS)`);
    expect((await fetch(`${String(first?.['health'])}/metrics`)).status).toBe(200);
    expect(String(first?.['health'])).not.toMatch(/:3001$/);
    expect(await post(server.url, '{"id":7,"name":"x"}')).toMatchObject({ status: 200 });
  });

  it('the server opens its port, with a warning, if the handed-over socket is for a wrapper process', async () => {
    const server = await startProgram({ args: memory, env: { LISTEN_PID: '1', LISTEN_FDS: '1' } });
    expect(await post(server.url, '{"id":7,"name":"x"}')).toMatchObject({ status: 200 });
    await untilLogged(server, 'LISTEN_PID is 1, and this process is');
    expect(linesOf(server)[0]).toMatchObject({ message: acceptingMessage });
  });
});

/** Runs the program with one handed-over descriptor to its end. */
const runWith = (descriptor: number | undefined, args: readonly string[], names = 'plants') => {
  const stdio: StdioOptions = [
    'ignore',
    'pipe',
    'pipe',
    ...(descriptor === undefined ? [] : [descriptor]),
  ];
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh', ...program, ...args],
    { stdio, env: { ...neededVariables(), LISTEN_FDNAMES: names }, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
};

describe('refused handed-over socket', requiresPosix, () => {
  it.each<[string, () => Promise<number | undefined>]>([
    ['is closed', async () => undefined],
    [
      'is a file',
      async () => {
        const file = await open(bin);
        onTestFinished(async () => file.close());
        return file.fd;
      },
    ],
  ])('a handed-over socket is refused with status 2 if it %s', async (_, descriptorFor) => {
    const descriptor = await descriptorFor();
    expect(runWith(descriptor, memory)).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'plantstore: cannot serve plants (LISTEN_FDS): file descriptor 3 is not a listening TCP socket\n',
    });
  });
});
