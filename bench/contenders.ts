import { join } from 'node:path';
import type { Program, Server } from './server.ts';
import { token } from './token.ts';

/** The built program, which users run. */
export const bin = join(import.meta.dirname, '../packages/server/dist/bin.js');

/** Folder of the peers. Only the benchmark installs their packages. */
export const peersFolder = join(import.meta.dirname, 'peers');

/** Options of a new database. */
export type DatabaseOptions = {
  /** Time that PostgreSQL waits before the sync of each commit, in milliseconds. Default: 0. */
  readonly commitDelayMs?: number;
};

/** Creates stores. */
export type Stores = {
  /** The path of a file that does not exist. */
  readonly newFile: () => string;
  /** The URL of a new database. */
  readonly newDatabase: (options?: DatabaseOptions) => Promise<string>;
};

/** The server to which the ratios relate. */
export const baseline: Server = {
  name: 'bare node:http',
  group: 'limit',
  ids: 'sequential',
  program: () => ({ file: 'servers/bare.mjs' }),
};

type Store = Pick<Server, 'section' | 'ids' | 'core'>;

const inMemory: Store = { section: 'HTTP alone, in memory', ids: 'random' };
const onSqlite: Store = { section: 'on SQLite', ids: 'random', core: 'any' };
const onPostgres: Store = { section: 'on PostgreSQL', ids: 'random' };

/** Our request listener on a database, without the program around it. */
const listener = (database: string): Program => ({ file: 'servers/ours.ts', args: [database] });

/** The program on the URL of a database. */
export const wholeServer = (port: number, database: string, log: string): Program => ({
  file: bin,
  args: ['--port', String(port), '--database', database, '--log', 'json'],
  env: { PLANTSTORE_TOKENS: token },
  stdout: log,
});

/** The program on a database file, which it creates if it does not exist. */
export const wholeServerOn = (file: string): Server => ({
  ...onSqlite,
  name: 'server',
  program: (port) => wholeServer(port, `sqlite:${file}`, `${file}.log`),
});

/** The build of this project. */
const ours = ({ newFile, newDatabase }: Stores): readonly Server[] => {
  const server = (
    store: Store,
    name: string,
    program: Server['program'],
    more?: Partial<Server>,
  ): Server => ({ ...store, name: `ours, ${name}`, group: 'ours', program, ...more });
  const onNewFile = () => listener(newFile());
  return [
    server(inMemory, 'keeping nothing', () => listener('nothing'), { storesNothing: true }),
    server(inMemory, 'in memory', () => listener('memory')),
    server(inMemory, 'in memory, whole server, logging', (port) =>
      wholeServer(port, 'memory:', newFile()),
    ),
    server(onSqlite, 'sqlite, sequential ids', onNewFile, { ids: 'sequential' }),
    server(onSqlite, 'sqlite', onNewFile),
    server(onSqlite, 'sqlite, whole server, logging', (port) =>
      wholeServerOn(newFile()).program(port),
    ),
    server(onPostgres, 'postgres', async () => listener(await newDatabase())),
  ];
};

type Framework = { readonly name: string; readonly file: string } & Pick<Program, 'bun'>;

const fastify: Framework = { name: 'Fastify (ajv)', file: 'fastify.mjs' };
const express: Framework = { name: 'Express 5 (zod)', file: 'express.mjs' };
const hono: Framework = { name: 'Hono on Node (zod)', file: 'hono.mjs' };
const nest: Framework = { name: 'Nest (class-validator)', file: 'nest/dist/main.js' };
const elysia: Framework = {
  name: 'Elysia on Bun (TypeBox)',
  file: 'elysia.mjs',
  bun: join(peersFolder, 'node_modules/.bin/bun'),
};

const peer = (
  store: Store,
  { name, file, ...runtime }: Framework,
  driver: string,
  open: () => string | Promise<string>,
): Server => ({
  ...store,
  name: `${name}, ${driver}`,
  group: 'peer',
  program: async () => ({
    file: join(peersFolder, file),
    args: [await open()],
    env: { TOKEN: token },
    ...runtime,
  }),
});

const groupCommit = 'node:sqlite, group commit';

/** Fastify with group commit on a database file that does not exist. */
export const fastifyOn = (file: string): Server =>
  peer(onSqlite, fastify, groupCommit, () => `group-commit:${file}`);

/** Fastify without a database. */
export const fastifyInMemory: Server = peer(inMemory, fastify, 'in memory', () => 'memory');

/** The same operation with other frameworks and drivers. */
const peers = ({ newFile, newDatabase }: Stores): readonly Server[] => [
  fastifyInMemory,
  ...[hono, elysia].map((one) => peer(inMemory, one, 'in memory', () => 'memory')),
  ...[fastify, express, hono, nest].map((one) => peer(onSqlite, one, 'better-sqlite3', newFile)),
  peer(onSqlite, elysia, 'bun:sqlite', newFile),
  peer(onSqlite, fastify, groupCommit, () => `group-commit:${newFile()}`),
  peer(onPostgres, fastify, 'pg', async () => newDatabase()),
];

/** Every server but the baseline, by section, this project's before the peers. */
export const allServers = (stores: Stores): readonly Server[] => {
  const servers = [...ours(stores), ...peers(stores)];
  return [inMemory, onSqlite, onPostgres].flatMap((store) =>
    servers.filter(({ section }) => section === store.section),
  );
};
