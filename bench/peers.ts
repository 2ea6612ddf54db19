// The peers' packages: 200 MB that only this needs, so they are in no workspace and fetched here.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installIn } from './install.ts';
import type { Contender, Program } from './measure.ts';
import type { StoreKind } from './results.ts';
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

type Framework = { readonly name: string; readonly file: string } & Pick<Program, 'bun'>;
const fastify: Framework = { name: 'Fastify (ajv)', file: 'fastify.mjs' };
const express: Framework = { name: 'Express 5 (zod)', file: 'express.mjs' };
const hono: Framework = { name: 'Hono on Node (zod)', file: 'hono.mjs' };
const nest: Framework = { name: 'Nest (class-validator)', file: 'nest/dist/main.js' };
const elysia: Framework = { name: 'Elysia on Bun (TypeBox)', file: 'elysia.mjs', bun };

/** The same job on other frameworks and drivers. */
export const peers = ({ newFile, newDatabase }: Stores): readonly Contender[] => {
  const peer = (
    store: StoreKind,
    { name, file, ...runtime }: Framework,
    driver: string,
    open: () => string | Promise<string>,
  ): Contender => ({
    name: `${name}, ${driver}`,
    group: 'peer',
    store,
    ids: 'random',
    program: async () => ({
      file: join(folder, file),
      args: [await open()],
      env: { TOKEN: token },
      ...runtime,
    }),
    core: store === 'sqlite' ? 'any' : 0,
  });
  return [
    ...[fastify, hono, elysia].map((framework) =>
      peer('memory', framework, 'in memory', () => 'memory'),
    ),
    ...[fastify, express, hono, nest].map((framework) =>
      peer('sqlite', framework, 'better-sqlite3', newFile),
    ),
    peer('sqlite', elysia, 'bun:sqlite', newFile),
    peer('sqlite', fastify, 'node:sqlite, group commit', () => `group-commit:${newFile()}`),
    peer('postgres', fastify, 'pg', newDatabase),
  ];
};
