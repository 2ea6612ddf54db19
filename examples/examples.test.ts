import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorTable } from '@plantstore/core/errors';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it, onTestFinished } from 'vitest';

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
  const { stdout } = await run('client-options.ts', env);
  expect(stdout).toBe('settled after 1 attempt(s)\ncreated\n');
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

it('test-without-network.ts is a test that passes', async () => {
  const { stdout } = await run('test-without-network.ts');
  expect(stdout).toContain('accepts a plant, and rejects another one with the same id');
});
