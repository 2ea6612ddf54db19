import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';
import { newFolder, startProgram, token } from '../black-box/program.ts';
import { runIn } from './run-in.ts';

/** Installations download packages. */
const minutes = 60_000;
const root = fileURLToPath(new URL('../../', import.meta.url));

/** It is no file of the workspace, which has no generated client. */
const program = `
import { encodeNewPlant } from '@plantstore/core/wire';
import { client } from './generated/client.gen.js';
import { createPlant, type NewPlant } from './generated/index.js';

const [, , baseUrl = '', token = ''] = process.argv;
const bodySerializer = (body: unknown) => encodeNewPlant(body as NewPlant);
client.setConfig({ baseUrl, auth: token, bodySerializer });

const plants: NewPlant[] = [
  { id: 9007199254740993n, name: 'Monstera' },
  { id: 9007199254740993n, name: 'Ficus' },
  { id: 9007199254740992n, name: 'Ficus' },
];
for (const body of plants) {
  const { data, error } = await createPlant({ body });
  console.log(data?.name ?? error?.error);
}
`;

it(
  'a client that Hey API generates with the settings of the page sends an exact id',
  { timeout: 5 * minutes },
  async () => {
    const { app } = inject('release');
    const settings = join(app, 'openapi-ts.config.mjs');
    await runIn(root, 'npx', ['-y', 'pnpm@12', 'client:generate', '--file', settings]);
    await writeFile(join(app, 'use-generated.ts'), program);
    const compiler = join(app, 'node_modules/typescript/bin/tsc');
    await runIn(app, process.execPath, [compiler, '-p', 'tsconfig.generated.json']);
    const server = await startProgram({
      args: ['--database', `sqlite:${join(await newFolder(), 'plants.db')}`],
    });
    const args = ['out/generated/use-generated.js', server.url.replace(/\/plants$/, ''), token];
    const { stdout } = await runIn(app, process.execPath, args);
    expect(stdout).toBe('Monstera\n1401\nFicus\n');
  },
);
