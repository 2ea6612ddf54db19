import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { connectSql } from '../../packages/postgres/test/sql-client.ts';
import { bin } from '../build.ts';
import { type Child, startChild } from '../child.ts';
import { type Contender, withServer } from '../measure.ts';
import { token } from '../token.ts';
import type { Places } from './measure-round.ts';
import type { Filled } from './fill.ts';

/** What plants take, beyond time. */
export type Footprint = {
  readonly plants: number;
  /** Bytes for each plant, at rest and on the way there. */
  readonly storage: readonly {
    readonly store: string;
    readonly ids: Filled['ids'];
    readonly kept: number;
    /** Written to the disk in SQLite's process, or to PostgreSQL's WAL. */
    readonly written: number;
  }[];
  /** Of a request by `fetch` and its answer, without those of TCP and IP. */
  readonly network: { readonly request: number; readonly answer: number };
  /** Memory of a host with so many idle connections. */
  readonly idle: readonly { readonly connections: number; readonly residentMiB: number }[];
};

const host: Contender = {
  name: 'the host',
  group: 'ours',
  ids: 'random',
  program: async (port) => ({
    file: bin,
    args: ['--port', String(port), '--database', 'memory:', '--log', 'json'],
    env: { PLANTSTORE_TOKENS: token },
  }),
  core: 'any',
};

const fill = async (database: string, plants: number, ids: Filled['ids']): Promise<Filled> => {
  const child = startChild('scaling/fill.ts', [database, String(plants), ids], { core: 'any' });
  try {
    return (await child.next()) as Filled;
  } finally {
    await child.stop();
  }
};

const fillSqlite = async ({ stores }: Places, plants: number, ids: Filled['ids']) => {
  const file = stores.newFile();
  const { written } = await fill(file, plants, ids);
  const { size } = await stat(file);
  return { store: 'sqlite', ids, kept: size / plants, written: written / plants };
};

const fillPostgres = async ({ stores }: Places, plants: number, ids: Filled['ids']) => {
  const database = await stores.newDatabase();
  const client = await connectSql(database);
  const read = async (sql: string): Promise<number> => {
    const { rows } = await client.query<{ told: string }>(`SELECT ${sql} AS told`);
    return Number(rows[0]?.told);
  };
  const walBytes = async () => read(`pg_current_wal_lsn() - '0/0'::pg_lsn`);
  const before = await walBytes();
  await fill(database, plants, ids);
  const written = (await walBytes()) - before;
  const kept = await read(`pg_total_relation_size('plants')`);
  await client.end();
  return { store: 'postgres', ids, kept: kept / plants, written: written / plants };
};

const post = async (port: number, id: number): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/plants`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, name: 'Monstera', tag: 'climber' }),
  });
  if (response.status !== 200) throw new Error(`the host answered ${response.status}`);
  await response.arrayBuffer();
};

/** Counts what goes through a proxy, with an id as long as ids are. */
const countBytes = async (port: number): Promise<Footprint['network']> => {
  const counted = { request: 0, answer: 0 };
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    client.on('data', ({ length }) => (counted.request += length));
    server.on('data', ({ length }) => (counted.answer += length));
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  await post(typeof address === 'object' && address !== null ? address.port : 0, 2 ** 52);
  proxy.close();
  return counted;
};

const oneRequest = async (port: number, id: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  const body = JSON.stringify({ id, name: 'Monstera' });
  socket.write(
    `POST /plants HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'data');
  return socket;
};

/** Each connection is used once, and then kept. */
const fillWithConnections = async (port: number, server: Child, counts: readonly number[]) => {
  const sockets: Socket[] = [];
  const told: { readonly connections: number; readonly residentMiB: number }[] = [];
  try {
    for (const connections of counts) {
      while (sockets.length < connections)
        sockets.push(
          ...(await Promise.all(
            Array.from({ length: Math.min(100, connections - sockets.length) }, async (_, index) =>
              oneRequest(port, sockets.length + index),
            ),
          )),
        );
      const { residentBytes } = await server.usage();
      told.push({ connections, residentMiB: residentBytes / 2 ** 20 });
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return told;
};

/** Measures what plants and connections take. */
export const measureFootprint = async (places: Places, plants: number): Promise<Footprint> => ({
  plants,
  storage: [
    await fillSqlite(places, plants, 'sequential'),
    await fillSqlite(places, plants, 'random'),
    await fillPostgres(places, plants, 'sequential'),
    await fillPostgres(places, plants, 'random'),
  ],
  network: await withServer(host, countBytes),
  idle: await withServer(host, async (port, server) =>
    fillWithConnections(port, server, [1, 1_000, 5_000, 9_000]),
  ),
});
