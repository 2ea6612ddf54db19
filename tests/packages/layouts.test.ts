import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@plantstore/test-support/free-port';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { newFolder, post, spawnProgram, startProgram } from '../black-box/program.ts';
import { latest, type Layout, layouts, specifiers } from './layouts.ts';
import { runIn, untilItResponds } from './run-in.ts';

/** Installations download packages and runtimes. */
const minutes = 60_000;
const examples = fileURLToPath(new URL('../../examples', import.meta.url));

describe.each(Object.keys(layouts))('installed by %s', { timeout: minutes }, (name) => {
  let folder = '';
  let layout: Layout;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
    layout = (await layouts[name]?.(folder)) as Layout;
  }, 5 * minutes);

  afterAll(async () => rm(folder, { recursive: true, force: true }));

  it(`an installation by ${name} imports every export of every package`, async () => {
    const script = join(layout.folder, 'import-all.mjs');
    await cp(fileURLToPath(new URL('consumer/import-all.mjs', import.meta.url)), script);
    const args = [script, ...Object.keys(latest)];
    const { stdout } = await runIn(layout.folder, process.execPath, args, layout);
    expect(stdout.trim().split('\n').toSorted()).toEqual(specifiers);
  });

  it(`an installation by ${name} runs the examples of the pages`, async () => {
    for (const file of ['first-core.ts', 'embed-server.ts', 'first-client.ts']) {
      await cp(join(examples, file), join(layout.folder, file));
    }
    const run = async (file: string, more: Readonly<Record<string, string>> = {}) =>
      runIn(layout.folder, process.execPath, [file], { env: { ...layout.env, ...more } });
    expect((await run('first-core.ts')).stdout).toBe('created Monstera\n');
    const port = await freePort();
    const server = spawn(process.execPath, ['embed-server.ts'], {
      cwd: layout.folder,
      env: { ...layout.env, PORT: String(port), PLANT_TOKEN: 'example' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(async () => {
      const exited = once(server, 'exit');
      server.kill();
      await exited;
    });
    const url = `http://127.0.0.1:${port}/garden`;
    await untilItResponds(server, url);
    const settings = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: 'example' };
    expect((await run('first-client.ts', settings)).stdout).toBe('created Monstera\n');
  });

  it(`an installation by ${name} prints the released version`, async () => {
    const {
      bin: [command, ...args],
      env,
    } = layout;
    const { stdout } = await runIn(layout.folder, command, [...args, '--version'], { env });
    expect(stdout).toBe(`${inject('release').version}\n`);
  });

  it(`an installation by ${name} creates plants in a file through the bundled server`, async () => {
    const database = `sqlite:${join(await newFolder(), 'plants.db')}`;
    const { bin: command, env } = layout;
    const server = await startProgram({ command, env, args: ['--database', database] });
    expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    expect(await post(server.url, '{"id":7,"name":"Ficus"}')).toEqual({ status: 400, error: 1401 });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  it(`an installation by ${name} loads the PostgreSQL store for a PostgreSQL URL`, async () => {
    const { bin: command, env } = layout;
    const args = ['--database', 'postgres://ada:s3cr3t@127.0.0.1:1/garden'];
    const server = spawnProgram({ command, env, args });
    expect(await server.exited).toBe(1);
    expect(server.stderr()).toContain('no database server can be reached');
  });
});
