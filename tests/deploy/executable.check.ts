import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@plantstore/test-support/postgres-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ProgramOptions,
  newFolder,
  post,
  spawnProgram,
  startProgram,
} from '../black-box/program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

/** The executable, without the repository and without another Node. */
let executable: Required<Pick<ProgramOptions, 'command' | 'env'>>;

/** Runs the executable to its end. */
const run = async (options: ProgramOptions) => {
  const server = spawnProgram({ ...executable, ...options });
  return { status: await server.exited, stdout: server.stdout(), stderr: server.stderr() };
};

beforeAll(async () => {
  execFileSync('npx', ['-y', 'pnpm@12', 'build:executable'], { cwd: root });
  const path = join(await newFolder(afterAll), 'plantstore-server');
  await copyFile(`${root}dist/plantstore-server`, path);
  executable = { command: [path], env: { PATH: '' } };
  // Long enough to download a Node.
}, 300_000);

it('the executable prints its version and its help', async () => {
  const { version } = JSON.parse(read('packages/server/package.json')) as { version: string };
  const done = { status: 0, stderr: '' };
  expect(await run({ args: ['--version'] })).toEqual({ ...done, stdout: `${version}\n` });
  const help = { ...done, stdout: expect.stringContaining('Usage: plantstore-server') as string };
  expect(await run({ args: ['-h'] })).toEqual(help);
  expect(await run({ args: ['backup', '-h'] })).toEqual(help);
});

it('the executable keeps plants in SQLite through kill -9, and runs every command', async () => {
  const cwd = await newFolder();
  const plant = '{"id":9007199254740993,"name":"Monstera"}';
  const killed = await startProgram({ ...executable, cwd });
  expect(await post(killed.url, plant)).toMatchObject({ status: 200 });
  killed.process.kill('SIGKILL');
  await killed.exited;

  const server = await startProgram({ ...executable, cwd });
  expect(await post(server.url, plant)).toMatchObject({ status: 200 });
  expect(await post(server.url, plant.replace('Monstera', 'Ficus'))).toMatchObject({ error: 1401 });
  // Beside the server, in a worker thread.
  const done = { status: 0 };
  expect(await run({ cwd, args: ['backup', 'copy.db'] })).toMatchObject(done);
  server.process.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(server.stderr()).toBe('');
  expect(await readdir(cwd)).toEqual(['copy.db', 'plants.db', 'plants.db-owner']);

  const database = ['--database', 'sqlite:other.db'];
  expect(await run({ cwd, args: ['restore', 'copy.db', ...database] })).toMatchObject(done);
  expect(await run({ cwd, args: ['check', ...database] })).toMatchObject(done);
  const restored = await run({ cwd, args: ['export', ...database] });
  expect(restored).toMatchObject({ ...done, stdout: `${plant}\n` });
  await writeFile(join(cwd, 'plants.ndjson'), restored.stdout);
  const imported = ['--database', 'sqlite:imported.db'];
  expect(await run({ cwd, args: ['import', 'plants.ndjson', ...imported] })).toMatchObject(done);
  const exported = await run({ cwd, args: ['export', ...imported] });
  expect(exported).toMatchObject({ ...done, stdout: `${plant}\n` });
});

it('the executable contains the PostgreSQL store and the metrics', async ({ onTestFinished }) => {
  const postgres = await startPostgres();
  onTestFinished(postgres.dispose);
  const args = ['--database', postgres.url(), '--health-port', '0', '--metrics', 'on'];
  const server = await startProgram({ ...executable, args });
  expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
  const { health } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { health: string };
  const metrics = await (await fetch(`${health}/metrics`)).text();
  expect(metrics).toContain('plantstore_requests_total{status="200",error="none"} 1');
  expect(metrics).toContain('database="postgres"');
});

it('the executable reports an unreachable PostgreSQL server', async () => {
  const result = await run({ args: ['--database', 'postgres://127.0.0.1:1/plants'] });
  expect(result).toMatchObject({ status: 1, stdout: '' });
  expect(result.stderr).toContain('no database server can be reached');
});

it('the licences of Node and of the packages are beside the executable', () => {
  const licences = read('dist/licences.txt');
  for (const name of ['node-linux-', 'neverthrow', 'zod', 'pg', 'pgpass', 'prom-client'])
    expect(licences).toContain(`\n=== ${name}`);
  expect(licences).toContain('Copyright Node.js contributors');
});
