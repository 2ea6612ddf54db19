import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@plantstore/test-support/free-port';
import { type Child, type ChildOptions, startChild } from './child.ts';
import type { Load, LoadOptions, LoadResult } from './load.ts';
import type { Row } from './results.ts';
import type { Figures } from './rounds.ts';
import { token } from './token.ts';

/** A server that is measured. */
export type Server = Pick<Row, 'name' | 'group' | 'section'> & {
  readonly ids: LoadOptions['ids'];
  /** Called for each start, which gets a new process and a new store. */
  readonly program: (port: number) => Program | Promise<Program>;
  /** Default: the core that the load generator does not use. `any` for servers with several threads or processes. */
  readonly core?: ChildOptions['core'];
  /** Whether the server stores nothing, and so cannot detect that an id already exists. */
  readonly storesNothing?: boolean;
};

/** A program that listens on a port. */
export type Program = {
  /** Absolute path, or path relative to this folder. */
  readonly file: string;
  readonly args?: readonly string[];
} & Pick<ChildOptions, 'env' | 'bun' | 'stdout'>;

/** Measures a server under load: CPU time per request, and memory at the end. */
export async function measureServer(server: Server, load: Load): Promise<Figures> {
  // Flushes the writes of the previous contender, so that they do not slow down the next one.
  spawnSync('sync');
  return withServer(server, async (port, child) => {
    const options: LoadOptions = { ...load, port, ids: server.ids };
    const generator = startChild('load.ts', [JSON.stringify(options)], { core: 1 });
    try {
      await generator.next();
      const before = await child.usage();
      await generator.next();
      const after = await child.usage();
      const { responses, ...figures } = (await generator.next()) as LoadResult;
      const cpuUs = (after.cpuUs - before.cpuUs) / responses;
      return { cpuUs, ...figures, residentMiB: after.residentMiB };
    } finally {
      await generator.stop();
    }
  });
}

/** Throws unless a server implements the measured operation: bearer token, validation, unique ids, the response. */
export async function verifyServer(server: Server): Promise<void> {
  return withServer(server, async (port) => {
    const faults: string[] = [];
    for (const { name, authorization, body, status } of cases) {
      if (server.storesNothing === true && name === idTaken) continue;
      const response = await post(port, body, authorization);
      const text = await response.text();
      if (response.status !== status || (status === 200 && text !== expectedBody))
        faults.push(`the response to ${name} was ${response.status} ${text}`);
    }
    if (faults.length > 0)
      throw new Error(`it does not implement the operation: ${faults.join('; ')}`);
  });
}

const plant = { id: 7, name: 'Monstera', tag: 'climber' };
const expectedBody = JSON.stringify({ name: plant.name, tag: plant.tag });
const idTaken = 'another plant with its id';

// The order matters, because the store is not reset between cases.
const cases = [
  { name: 'a plant', body: plant, status: 200 },
  { name: 'the same plant again', body: plant, status: 200 },
  { name: idTaken, body: { ...plant, name: 'Ficus' }, status: 400 },
  { name: 'a plant without a name', body: { id: 8 }, status: 400 },
  { name: 'an id that is text', body: { ...plant, id: 'x' }, status: 400 },
  { name: 'a plant without a token', authorization: '', body: plant, status: 401 },
  { name: 'a plant with a wrong token', authorization: 'Bearer wrong', body: plant, status: 401 },
];

/** Runs a task with a server. Errors contain the server's name, exit status and output. */
export async function withServer<T>(
  { name, program, core = 0 }: Server,
  task: (port: number, server: Child) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const { file, args = [], env = {}, ...options } = await program(port);
  const server = startChild(file, args, { ...options, core, env: { PORT: String(port), ...env } });
  try {
    await untilListening(server, port);
    return await task(port, server);
  } catch (cause) {
    await server.stop();
    const message = cause instanceof Error ? cause.message : String(cause);
    const parts = new Set([message, await server.ended]);
    throw new Error(`${name}: ${[...parts].join('; ')}`, { cause });
  } finally {
    await server.stop();
  }
}

/** Posts a plant, with the benchmark's token if no other is given. */
export async function post(
  port: number,
  body: object,
  authorization = `Bearer ${token}`,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/plants`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: authorization },
    body: JSON.stringify(body),
  });
}

/** Time that a server may take to listen, in milliseconds. */
const maxStartMs = 30_000;

async function untilListening({ ended }: Child, port: number): Promise<void> {
  const hasEnded = ended.then(() => true);
  const began = performance.now();
  while (!(await accepts(port))) {
    if (await Promise.race([hasEnded, sleep(2, false)]))
      throw new Error('it exited before it listened');
    if (performance.now() - began > maxStartMs) throw new Error('it does not listen');
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const accepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return accepted;
}
