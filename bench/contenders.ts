import { randomFillSync } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';
import { token } from './load.ts';
import type { Server } from './measure.ts';

/** The server to which the ratios relate. */
export const baseline: Server = {
  name: 'bare node:http',
  core: 0,
  program: () => ({ file: 'servers/bare.mjs' }),
};

/** Every server but the baseline, by section. Each start gets a new file, or the URL of a new database. */
export function allServers(newFile: () => string, newDatabase: Open): readonly Server[] {
  const groupCommit = () => `group-commit:${newFile()}`;
  return [
    listener(inMemory, 'ours, in memory', () => 'memory'),
    program(inMemory, 'ours, in memory, whole server, logging', () => 'memory:'),
    fastify(inMemory, 'Fastify (ajv), in memory', () => 'memory'),
    listener(onSqlite, 'ours, sqlite', newFile),
    program(onSqlite, 'ours, sqlite, whole server, logging', () => `sqlite:${newFile()}`),
    fastify(onSqlite, 'Fastify (ajv), better-sqlite3', newFile),
    express(onSqlite, 'Express 5 (zod), better-sqlite3', newFile),
    fastify(onSqlite, 'Fastify (ajv), node:sqlite, group commit', groupCommit),
    listener(onPostgres, 'ours, postgres', newDatabase),
    fastify(onPostgres, 'Fastify (ajv), pg', newDatabase),
  ];
}

/**
 * The program on SQLite files that already have plants, the smallest first. The ids are random, for which caches have
 * little effect. Each start uses a copy.
 */
export async function growingServers(folder: string): Promise<readonly Server[]> {
  const sizes = [10_000, 100_000, 1_000_000];
  let copies = 0;
  for (const size of sizes) await fill(join(folder, String(size)), size);
  return sizes.map((size) =>
    program({}, `${size.toLocaleString('en')} plants`, async () => {
      const copy = join(folder, `copy-${(copies += 1)}.db`);
      await copyFile(join(folder, String(size)), copy);
      return `sqlite:${copy}`;
    }),
  );
}

/** Our request listener, without the program around it. */
const listener = serversOf('servers/ours.ts');
// The same operation with other frameworks.
const fastify = serversOf('peers/fastify.mjs');
const express = serversOf('peers/express.mjs');

type Store = Pick<Server, 'section' | 'core'>;
type Open = () => string | Promise<string>;

const inMemory: Store = { section: 'HTTP alone, in memory', core: 0 };
// On any core, because ours has two threads.
const onSqlite: Store = { section: 'on SQLite' };
const onPostgres: Store = { section: 'on PostgreSQL', core: 0 };

/** Returns a function that creates servers of one program, which takes a database. */
function serversOf(file: string) {
  return (store: Store, name: string, open: Open): Server => ({
    ...store,
    name,
    program: async () => ({ file, args: [await open()], env: { TOKEN: token } }),
  });
}

/** The built program, which users run, on the URL of a database. */
function program(store: Store, name: string, open: Open): Server {
  const file = '../packages/plantstore/dist/bin.js';
  const env = { PLANTSTORE_TOKENS: token };
  const start = async (port: number) => {
    const args = ['--port', `${port}`, '--database', await open(), '--log', 'json'];
    return { file, args, env };
  };
  return { ...store, name, program: start };
}

/** Creates plants in a file, with as many concurrent creates as a repository permits. */
async function fill(path: string, plants: number): Promise<void> {
  const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
  const atATime = 10_000;
  for (let left = plants; left > 0; left -= atATime) {
    const ids = randomFillSync(new BigInt64Array(Math.min(left, atATime)));
    const created = Array.from(ids, async (id) => repository.create({ id, name: 'Monstera' }));
    for (const one of await Promise.all(created)) one._unsafeUnwrap();
  }
  await repository.close();
}
