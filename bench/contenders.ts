import { join } from 'node:path';
import type { Program, Server } from './server.ts';
import { token } from './token.ts';

/** Creates stores. */
export type Stores = {
  /** The path of a file that does not exist. */
  readonly newFile: () => string;
  /** The URL of a new database. */
  readonly newDatabase: () => Promise<string>;
};

/** The server to which the ratios relate. */
export const baseline: Server = {
  name: 'bare node:http',
  group: 'limit',
  ids: 'sequential',
  program: () => ({ file: 'servers/bare.mjs' }),
};

/** Every server but the baseline, by section, this project's before the peers. */
export function allServers({ newFile, newDatabase }: Stores): readonly Server[] {
  const onNewFile = () => listener(newFile());
  return [
    ours(inMemory, 'keeping nothing', () => listener('nothing'), { storesNothing: true }),
    ours(inMemory, 'in memory', () => listener('memory')),
    ours(inMemory, 'in memory, whole server, logging', (port) =>
      wholeServer(port, 'memory:', newFile()),
    ),
    ...[fastify, hono, elysia].map((one) => peer(inMemory, one, 'in memory', () => 'memory')),

    ours(onSqlite, 'sqlite, sequential ids', onNewFile, { ids: 'sequential' }),
    ours(onSqlite, 'sqlite', onNewFile),
    ours(onSqlite, 'sqlite, whole server, logging', (port) =>
      wholeServerOn(newFile()).program(port),
    ),
    ...[fastify, express, hono].map((one) => peer(onSqlite, one, 'better-sqlite3', newFile)),
    peer(onSqlite, elysia, 'bun:sqlite', newFile),
    peer(onSqlite, fastify, 'node:sqlite, group commit', () => `group-commit:${newFile()}`),

    ours(onPostgres, 'postgres', async () => listener(await newDatabase())),
    peer(onPostgres, fastify, 'pg', newDatabase),
  ];
}

/** The program on a database file, which it creates if it does not exist. */
export function wholeServerOn(file: string): Server {
  return {
    ...onSqlite,
    name: 'server',
    program: (port) => wholeServer(port, `sqlite:${file}`, `${file}.log`),
  };
}

/** The built program, which users run. */
const bin = join(import.meta.dirname, '../packages/plantstore/dist/bin.js');

/** Folder of the peers. Only the benchmark installs their packages. */
export const peersFolder = join(import.meta.dirname, 'peers');

type Store = Pick<Server, 'section' | 'ids' | 'core'>;

const inMemory: Store = { section: 'HTTP alone, in memory', ids: 'random' };
const onSqlite: Store = { section: 'on SQLite', ids: 'random', core: 'any' };
const onPostgres: Store = { section: 'on PostgreSQL', ids: 'random' };

type Framework = { readonly name: string; readonly file: string } & Pick<Program, 'bun'>;

const fastify: Framework = { name: 'Fastify (ajv)', file: 'fastify.mjs' };
const express: Framework = { name: 'Express 5 (zod)', file: 'express.mjs' };
const hono: Framework = { name: 'Hono on Node (zod)', file: 'hono.mjs' };
const elysia: Framework = {
  name: 'Elysia on Bun (TypeBox)',
  file: 'elysia.mjs',
  bun: join(peersFolder, 'node_modules/.bin/bun'),
};

/** The build of this project. */
function ours(
  store: Store,
  name: string,
  program: Server['program'],
  more?: Partial<Server>,
): Server {
  return { ...store, name: `ours, ${name}`, group: 'ours', program, ...more };
}

/** Our request listener on a database, without the program around it. */
function listener(database: string): Program {
  return { file: 'servers/ours.ts', args: [database] };
}

/** The program on the URL of a database. */
function wholeServer(port: number, database: string, log: string): Program {
  return {
    file: bin,
    args: ['--port', String(port), '--database', database, '--log', 'json'],
    env: { PLANTSTORE_TOKENS: token },
    stdout: log,
  };
}

/** The same operation with another framework and driver. */
function peer(
  store: Store,
  { name, file, ...runtime }: Framework,
  driver: string,
  open: () => string | Promise<string>,
): Server {
  return {
    ...store,
    name: `${name}, ${driver}`,
    group: 'peer',
    program: async () => ({
      file: join(peersFolder, file),
      args: [await open()],
      env: { TOKEN: token },
      ...runtime,
    }),
  };
}
