// The peers' packages: 200 MB that only this needs, so they are in no workspace and fetched here.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installIn } from './install.ts';
import type { Contender, Program } from './measure.ts';
import type { Stores } from './stores.ts';
import { token } from './token.ts';

const run = promisify(execFile);
const folder = join(import.meta.dirname, 'peers');
const compiler = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');

/** Installs what the peers are made of, at exact versions, and builds the one that must be built. */
export const installPeers = async (): Promise<void> => {
  await installIn('peers');
  await run(process.execPath, [compiler, '-p', join(folder, 'nest')]);
};

/** The packages of the peers and their versions. */
export const peerVersions = async (): Promise<Record<string, string>> => {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies;
};

const bun = join(folder, 'node_modules/.bin/bun');

/** What others would write for the same job. */
export const peers = ({ newFile, newDatabase }: Stores): readonly Contender[] => {
  const peer = (file: string, store: string): Program => ({
    file: join(folder, file),
    args: [store],
    env: { TOKEN: token },
  });
  const onSqlite = { group: 'peer', ids: 'random', core: 'any' } as const;
  return [
    {
      ...onSqlite,
      name: 'Fastify (ajv), better-sqlite3',
      program: async () => peer('fastify.mjs', newFile()),
    },
    {
      ...onSqlite,
      name: 'Express 5 (zod), better-sqlite3',
      program: async () => peer('express.mjs', newFile()),
    },
    {
      ...onSqlite,
      name: 'Hono on Node (zod), better-sqlite3',
      program: async () => peer('hono.mjs', newFile()),
    },
    {
      ...onSqlite,
      name: 'Nest (class-validator), better-sqlite3',
      program: async () => peer('nest/dist/main.js', newFile()),
    },
    {
      ...onSqlite,
      name: 'Elysia on Bun (TypeBox), bun:sqlite',
      program: async () => ({ ...peer('elysia.mjs', newFile()), bun }),
    },
    {
      name: 'Fastify (ajv), pg',
      group: 'peer',
      ids: 'random',
      program: async () => peer('fastify.mjs', await newDatabase()),
    },
  ];
};
