import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@plantstore/client';
import { errorTable } from '@plantstore/core/errors';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';
import { createPlantOrThrow, PlantNotCreated } from './client-throw.ts';

const runFile = promisify(execFile);
const example = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Variables of an example: its own, and the folder in which Node keeps compiled code. */
const variables = (own: Readonly<Record<string, string>>) => ({
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  ...own,
});

/** Runs an example to its end. */
const run = async (name: string, own: Readonly<Record<string, string>> = {}) =>
  runFile(process.execPath, [example(name)], { env: variables(own) });

it('use-core.ts creates a plant and prints the error of each other one', async () => {
  const { stdout } = await run('use-core.ts');
  expect(stdout.split('\n')).toEqual([
    'created Monstera',
    'not created: another plant has the id 7',
    `not created: ${errorTable['id-not-integer'].message}; ${errorTable['name-required'].message}`,
    '',
  ]);
});

it('first-core.ts creates a plant', async () => {
  const { stdout } = await run('first-core.ts');
  expect(stdout).toBe('created Monstera\n');
});

it('embed-server.ts creates the plants of the examples of the client', async () => {
  const folder = await makeFolder();
  const server = spawn(process.execPath, [example('embed-server.ts')], {
    env: variables({
      PORT: '0',
      PLANT_TOKEN: 'example',
      PLANTS_FILE: join(folder, 'plants.db'),
    }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    server.kill();
    await once(server, 'close');
  });
  const [output] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string];
  const port = /port: (\d+)/.exec(output)?.[1] ?? '';
  const env = { PLANTSTORE_URL: `http://127.0.0.1:${port}/garden`, PLANTSTORE_TOKEN: 'example' };
  for (const name of ['first-client.ts', 'call-with-client.ts']) {
    const { stdout } = await run(name, env);
    expect(stdout).toBe('created Monstera\n');
  }
  const many = await run('client-many-plants.ts', env);
  expect(many).toMatchObject({ stdout: '100 created\n', stderr: '' });
  for (const name of ['token-refresh', 'timeouts', 'tracing']) {
    const recipe = await run(`client-${name}.ts`, env);
    expect(recipe.stdout).toBe(
      name === 'timeouts' ? 'settled after 1 attempt(s)\ncreated\n' : 'created\n',
    );
  }
});

it('client-throw.ts returns a plant, or throws an error whose cause has a kind', async () => {
  const clientOf = (status: number) =>
    createClient({
      baseUrl: 'http://plants.test',
      token: 'any',
      fetch: async () => new Response('{"name":"Ficus"}', { status }),
    });
  const plant = { id: 7, name: 'Ficus' };
  expect(await createPlantOrThrow(clientOf(200), plant)).toEqual({ name: 'Ficus' });
  const failing = createPlantOrThrow(clientOf(404), plant);
  await expect(failing).rejects.toBeInstanceOf(PlantNotCreated);
  await expect(failing).rejects.toMatchObject({ cause: { kind: 'unexpected-status' } });
});

it('use-sqlite.ts stores a plant, also the second time, and read-and-back-up.ts reads it', async () => {
  const folder = await makeFolder();
  const env = { PLANTS_FILE: join(folder, 'plants.db') };
  for (const _ of ['first', 'again']) {
    const { stdout } = await run('use-sqlite.ts', env);
    expect(stdout).toBe('on the disk\n');
  }
  const { stdout } = await run('read-and-back-up.ts', env);
  expect(stdout).toBe("{ id: 9223372036854775807n, name: 'Monstera' }\nplants: 1\n");
});

it('client-unwrap-in-tests.ts is a test that passes', async () => {
  const { stdout } = await run('client-unwrap-in-tests.ts');
  expect(stdout).toContain('creates a plant');
  expect(stdout).toContain('reports a redirect');
});

it('test-without-network.ts is a test that passes', async () => {
  const { stdout } = await run('test-without-network.ts');
  expect(stdout).toContain('accepts a plant, and rejects another one with the same id');
});
