import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../packages/postgres/test/postgres-server.ts';
import { type Child, type ChildOptions, startChild } from './child.ts';
import type { LoadOptions, LoadResult } from './load.ts';
import type { Group, StoreKind } from './results.ts';

/** A program that listens at a port on a store of its own. */
export type Program = {
  /** From this folder, or absolute. */
  readonly file: string;
  readonly args?: readonly string[];
} & Pick<ChildOptions, 'env' | 'bun' | 'stdout'>;

/** A server that is measured. */
export type Contender = {
  readonly name: string;
  readonly group: Group;
  /** Absent where it is not reported, or a limit. */
  readonly store?: StoreKind;
  readonly ids: LoadOptions['ids'];
  /** Each start is of a new process with a new store. */
  readonly program: (port: number) => Promise<Program>;
  /** Default is the first, which the load does not use; `any` where a disk has work beside it. */
  readonly core?: ChildOptions['core'];
  /** Set where it keeps nothing, and so cannot know that an id is taken. */
  readonly forgets?: boolean;
};

/** How all are put under load. */
export type Load = Pick<
  LoadOptions,
  'connections' | 'seconds' | 'warmUpSeconds' | 'warmUpConnections'
>;

/** One round of one contender. */
export type Measured = LoadResult & {
  /** Microseconds of the server process's CPU time for each request, its threads included. */
  readonly cpuPerRequest: number;
};

const accepts = async (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

/** For how long a server may start, in milliseconds. */
const maxStartMs = 30_000;

const untilListening = async (server: Child, port: number): Promise<void> => {
  const fate = { isOver: false };
  void server.ended.then(() => {
    fate.isOver = true;
  });
  const began = performance.now();
  while (!(await accepts(port))) {
    if (fate.isOver) throw new Error('it ended before it listened');
    if (performance.now() - began > maxStartMs) throw new Error('it does not listen');
    await sleep(20);
  }
};

/** What was thrown, in words. */
export const textOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/**
 * Starts a contender for as long as a task takes. What fails is told with the contender's name, how its
 * process ended and what it wrote to standard error.
 */
export const withServer = async <T>(
  { name, program, core = 0 }: Contender,
  task: (port: number, server: Child) => Promise<T>,
): Promise<T> => {
  const port = await freePort();
  const { file, args = [], env = {}, ...options } = await program(port);
  const server = startChild(file, args, { core, ...options, env: { PORT: String(port), ...env } });
  try {
    await untilListening(server, port);
    return await task(port, server);
  } catch (cause) {
    await server.stop();
    const told = new Set([textOf(cause), await server.ended]);
    throw new Error(`${name}: ${[...told].join('; ')}`, { cause });
  } finally {
    await server.stop();
  }
};

/** What one has left to be written must not slow the next. Where there is no such program, it may. */
const settleDisk = () => {
  spawnSync('sync');
};

/** Puts a contender under load once. */
export const measure = async (contender: Contender, load: Load): Promise<Measured> => {
  settleDisk();
  return withServer(contender, async (port, server) => {
    const options: LoadOptions = { ...load, port, ids: contender.ids };
    const generator = startChild('load.ts', [JSON.stringify(options)], { core: 1 });
    try {
      await generator.next();
      const before = await server.usage();
      await generator.next();
      const after = await server.usage();
      const result = (await generator.next()) as LoadResult;
      if (result.answers === 0) throw new Error('it answered nothing');
      const cpuPerRequest = ((after.cpuSeconds - before.cpuSeconds) * 1e6) / result.answers;
      return { ...result, cpuPerRequest };
    } finally {
      await generator.stop();
    }
  });
};

/** How many plants a second the disk takes, appended in groups of as many as there are connections. */
export const measureDisk = async (
  file: string,
  { connections, seconds }: Load,
): Promise<{ readonly perSecond: number }> => {
  settleDisk();
  const disk = startChild('servers/disk.ts', [file, String(connections), String(seconds)], {
    core: 0,
  });
  try {
    return (await disk.next()) as { perSecond: number };
  } finally {
    await disk.stop();
  }
};
