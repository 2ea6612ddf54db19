import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@plantstore/test-support/free-port';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { newFolder } from '../black-box/program.ts';
import { npm } from './installations.ts';
import { runIn, untilItResponds } from './run-in.ts';

/** Next builds an app in half a minute. */
const timeout = 300_000;

const files = {
  'create.js': `
import { createPlant } from '@plantstore/core';
import { backUpPlants, openSqliteRepository } from '@plantstore/sqlite';

export const create = async () => {
  const from = process.env.PLANTS;
  const opened = await openSqliteRepository({ path: from });
  if (opened.isErr()) return opened.error.message;
  const created = await createPlant(opened.value, { id: 7n, name: 'Monstera' });
  const backedUp = await backUpPlants({ from, to: from + '.backup' });
  await opened.value.close();
  return created.map(({ name }) => name).unwrapOr('') + ' ' + backedUp.map(({ plants }) => plants).unwrapOr(0);
};
`,
  'app.js': `import { create } from './create.js';\ncreate().then(console.log);\n`,
  'app/plants/route.js': `
import { create } from '../../create.js';

export const dynamic = 'force-dynamic';
export const GET = async () => new Response(await create());
`,
  'rolldown.config.js': `export default { input: 'app.js', platform: 'node', experimental: { resolveNewUrlToAsset: true } };\n`,
};

const folder = await newFolder(afterAll);
const app = join(folder, 'app');

beforeAll(async () => {
  await npm(app, inject('release').registry, {
    '@plantstore/core': 'latest',
    '@plantstore/sqlite': 'latest',
    esbuild: '0.28.2',
    next: '16.4.6',
    react: '19.3.1',
    'react-dom': '19.3.1',
    rolldown: '1.3.2',
    webpack: '5.113.0',
    'webpack-cli': '7.3.1',
  });
  await mkdir(join(app, 'app/plants'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(app, name), text);
}, timeout);

it.each([
  [
    'webpack',
    'as it is',
    'webpack --mode production --target node22 --entry ./app.js --output-path $OUT --output-filename app.cjs',
  ],
  ['rolldown', 'with the setting of stores.md', 'rolldown --config --dir $OUT'],
  [
    'esbuild',
    'with the copy of stores.md',
    'esbuild app.js --bundle --platform=node --format=esm --outdir=$OUT && cp node_modules/@plantstore/sqlite/dist/*-worker.mjs $OUT',
  ],
])(
  'a bundle that %s makes %s creates and backs up a plant without node_modules',
  { timeout },
  async (name, _, command) => {
    const OUT = join(folder, name);
    await runIn(app, 'sh', ['-c', `node_modules/.bin/${command}`], { env: { OUT } });
    const file = name === 'webpack' ? 'app.cjs' : 'app.js';
    const env = { PLANTS: join(await newFolder(), 'plants.db') };
    expect((await runIn(OUT, process.execPath, [file], { env })).stdout).toBe('Monstera 1\n');
  },
);

it.each([
  ['turbopack', {}],
  ['webpack', { serverExternalPackages: ['@plantstore/sqlite'] }],
])(
  'a route of Next that %s builds with the settings %j creates and backs up a plant',
  { timeout },
  async (bundler, settings) => {
    await writeFile(join(app, 'next.config.js'), `export default ${JSON.stringify(settings)};\n`);
    const env = { NEXT_TELEMETRY_DISABLED: '1' };
    const next = join(app, 'node_modules/next/dist/bin/next');
    await runIn(app, process.execPath, [next, 'build', `--${bundler}`], { env });
    const port = await freePort();
    const server = spawn(process.execPath, [next, 'start', '-H', '127.0.0.1', '-p', `${port}`], {
      cwd: app,
      env: { ...process.env, ...env, PLANTS: join(await newFolder(), 'plants.db') },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(async () => {
      const exited = once(server, 'exit');
      server.kill();
      await exited;
    });
    const url = `http://127.0.0.1:${port}/`;
    await untilItResponds(server, url);
    expect(await (await fetch(`${url}plants`)).text()).toBe('Monstera 1');
  },
);
