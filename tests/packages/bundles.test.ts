import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { newFolder } from '../black-box/program.ts';
import { npm } from './installations.ts';
import { runIn } from './run-in.ts';

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
  'rolldown.config.js': `export default { input: 'app.js', platform: 'node', experimental: { resolveNewUrlToAsset: true } };\n`,
};

const folder = await newFolder(afterAll);
const app = join(folder, 'app');

beforeAll(async () => {
  await npm(app, inject('release').registry, {
    '@plantstore/core': 'latest',
    '@plantstore/sqlite': 'latest',
    esbuild: '0.28.2',
    rolldown: '1.3.2',
    webpack: '5.113.0',
    'webpack-cli': '7.3.1',
  });
  for (const [name, text] of Object.entries(files)) await writeFile(join(app, name), text);
}, 300_000);

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
  async (name, _, command) => {
    const OUT = join(folder, name);
    await runIn(app, 'sh', ['-c', `node_modules/.bin/${command}`], { env: { OUT } });
    const file = name === 'webpack' ? 'app.cjs' : 'app.js';
    const env = { PLANTS: join(await newFolder(), 'plants.db') };
    expect((await runIn(OUT, process.execPath, [file], { env })).stdout).toBe('Monstera 1\n');
  },
);
