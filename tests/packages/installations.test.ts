import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorTable } from '@plantstore/core/errors';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { newFolder, post, spawnProgram, startProgram, untilOutput } from '../black-box/program.ts';
import { compile } from './compile.ts';
import {
  compiler,
  type Installation,
  installationIn,
  latest,
  npm,
  npmGlobally,
  pnpmWithoutHoisting,
  specifiers,
  yarnPlugAndPlay,
} from './installations.ts';
import { type Output, runIn } from './run-in.ts';

const consumer = fileURLToPath(new URL('consumer', import.meta.url));
const examples = fileURLToPath(new URL('../../examples', import.meta.url));
const { app, tools, registry, version } = inject('release');
const bin = join('node_modules', '.bin', 'plantstore');

const folder = await newFolder(afterAll);
const managers = [
  'npm',
  'pnpm without hoisting',
  'npm, globally and side by side',
  "Yarn's Plug'n'Play",
] as const;
let installations: Readonly<Record<(typeof managers)[number], Installation>>;
/** With the oldest neverthrow that the packages accept, and without zod and prom-client. */
const minimal = join(folder, 'minimal');
/** With the client alone, by pnpm without hoisting. */
const client = join(folder, 'client');

// Installations download packages.
beforeAll(async () => {
  const [pnpm, globally, yarn] = await Promise.all([
    pnpmWithoutHoisting(join(folder, 'pnpm'), registry),
    npmGlobally(join(folder, 'global'), registry),
    yarnPlugAndPlay(join(folder, 'yarn'), registry),
    npm(minimal, registry, { ...latest, ...compiler, neverthrow: '7.2.0' }),
    pnpmWithoutHoisting(client, registry, { '@plantstore/client': 'latest' }),
  ]);
  for (const into of [minimal, client]) await cp(consumer, into, { recursive: true });
  installations = {
    npm: installationIn(app),
    'pnpm without hoisting': pnpm,
    'npm, globally and side by side': globally,
    "Yarn's Plug'n'Play": yarn,
  };
}, 300_000);

const nothing = { stdout: '', stderr: '' };
const printing = (stdout: string) => ({ stdout: `${stdout}\n`, stderr: '' });

/** Returns the paths of the manifests of all copies of neverthrow. */
const copiesOfNeverthrow = async (inFolder: string) =>
  (await readdir(join(inFolder, 'node_modules'), { recursive: true })).filter((path) =>
    path.endsWith('neverthrow/package.json'),
  );

type Names = Readonly<Record<string, unknown>>;
type Manifest = {
  readonly version: string;
  readonly dependencies?: Names;
  readonly peerDependencies?: Names;
  readonly peerDependenciesMeta?: Names;
};

const readManifest = async (inFolder: string, name: string) =>
  JSON.parse(
    await readFile(join(inFolder, 'node_modules', name, 'package.json'), 'utf8'),
  ) as Manifest;

it.each([
  ['@plantstore/core', ['neverthrow'], { zod: '*' }],
  ['@plantstore/sqlite', ['@plantstore/core', 'neverthrow'], {}],
  [
    '@plantstore/postgres',
    ['@plantstore/core', 'neverthrow', 'pg', 'pg-connection-string', 'pgpass'],
    {},
  ],
  ['@plantstore/server', ['@plantstore/core', 'neverthrow'], {}],
  [
    'plantstore',
    ['@plantstore/core', '@plantstore/server', '@plantstore/sqlite', 'neverthrow'],
    { '@plantstore/postgres': expect.stringMatching(/^\^/) as unknown, 'prom-client': '*' },
  ],
  ['@plantstore/client', ['neverthrow'], {}],
])(
  'the packed manifest of %s has the dependencies %j, and its peers are optional',
  async (name, dependencies, peers) => {
    const manifest = await readManifest(app, name);
    expect(Object.keys(manifest.dependencies ?? {}).toSorted()).toEqual(dependencies);
    expect(manifest).not.toHaveProperty('optionalDependencies');
    expect(manifest.peerDependencies ?? {}).toEqual(peers);
    const optional = Object.keys(peers).map((peer) => [peer, { optional: true }]);
    expect(manifest.peerDependenciesMeta ?? {}).toEqual(Object.fromEntries(optional));
  },
);

describe.each(managers)('installed by %s', (name) => {
  it(`an installation by ${name} imports every export of every package`, async () => {
    const { folder: into, env } = installations[name];
    await cp(join(consumer, 'import-all.mjs'), join(into, 'import-all.mjs'));
    const args = ['import-all.mjs', ...Object.keys(latest)];
    const { stdout } = await runIn(into, process.execPath, args, { env });
    expect(stdout.trim().split('\n').toSorted()).toEqual(specifiers);
  });

  it(`an installation by ${name} creates plants in a file, and loads the PostgreSQL store, through the program`, async () => {
    const { bin: command, env } = installations[name];
    const database = `sqlite:${join(await newFolder(), 'plants.db')}`;
    const server = await startProgram({ command, env, args: ['--database', database] });
    expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    expect(await post(server.url, '{"id":7,"name":"Ficus"}')).toEqual({ status: 400, error: 1401 });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    const unreachable = ['--database', 'postgres://ada:s3cr3t@127.0.0.1:1/garden'];
    const other = spawnProgram({ command, env, args: unreachable });
    expect(await other.exited).toBe(1);
    expect(other.stderr()).toContain('no database server can be reached');
  });
});

it('an installation by npm runs the examples of the pages', async () => {
  for (const file of ['first-core.ts', 'embed-server.ts', 'first-client.ts'])
    await cp(join(examples, file), join(app, file));
  const run = async (file: string, env: Readonly<Record<string, string>> = {}) =>
    runIn(app, process.execPath, [file], { env });
  expect((await run('first-core.ts')).stdout).toBe('created Monstera\n');
  const command = [process.execPath, 'embed-server.ts'] as const;
  const server = spawnProgram({ command, cwd: app, env: { PORT: '0', PLANT_TOKEN: 'example' } });
  await untilOutput(server, (stdout) => /port: \d+/.test(stdout));
  const [, port] = /port: (\d+)/.exec(server.stdout()) ?? [];
  const url = `http://127.0.0.1:${port}/garden`;
  const settings = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: 'example' };
  expect((await run('first-client.ts', settings)).stdout).toBe('created Monstera\n');
});

it('an installation by npm serves a request that Fastify simulates', async () => {
  const { stdout } = await runIn(app, process.execPath, ['use-fastify.mjs']);
  expect(stdout).toMatch(/^200 \{"name":"Monstera"\}\n400 \{"error":1401,.*\}\n$/);
});

describe('an installation with TypeScript', () => {
  it.each(['bundler', 'browser', 'frameworks'] as const)(
    'an installation with TypeScript compiles with the packages as %s',
    async (project) => {
      expect(await compile(app, project)).toEqual(nothing);
    },
  );

  it.each(['types', 'node10'] as const)(
    'an installation with the oldest TypeScript compiles a page of types as %s',
    async (project) => {
      const oldest = join(tools, 'node_modules/typescript-5.4');
      expect(await compile(app, project, oldest)).toEqual(nothing);
    },
  );

  it('an installation with zod compiles with the schemas of core, and runs with one copy of neverthrow', async () => {
    expect(await compile(app, 'schemas')).toEqual(nothing);
    const faults = `${errorTable['id-not-integer'].message}; ${errorTable['name-required'].message}`;
    expect(await runIn(app, process.execPath, ['out/schemas/use-schemas.js'])).toEqual(
      printing(`7 Monstera; ${faults}`),
    );
    expect(await copiesOfNeverthrow(app)).toEqual(['neverthrow/package.json']);
    expect((await readManifest(app, 'neverthrow')).version).toMatch(/^8\./);
  });

  it('an app without hoisting has declarations with the results of every package', async () => {
    const { folder: into } = installations['pnpm without hoisting'];
    const calls = {
      client: "createClient({ baseUrl: 'http://plants.test', token: '' }).createPlant({} as never)",
      core: 'createPlant(entry.createMemoryRepository(), {})',
      'core/group-commit': 'createGroupCommit({ lanes: [] }).create({} as never)',
      'core/wire': 'decodeBody(new Uint8Array())',
      postgres: "openPostgresRepository({ url: 'postgres://db/garden' })",
      server: 'optionRules',
      sqlite: "openSqliteRepository({ path: 'plants.db' })",
    };
    const lines = Object.entries(calls).flatMap(([entry, call], index) => [
      `import * as entry${index} from '@plantstore/${entry}';`,
      `export const run${index} = () => entry${index}.${call.replace('entry.', `entry${index}.`)};`,
      `export const awaited${index} = async () => run${index}();`,
    ]);
    await writeFile(join(into, 'declarations.ts'), lines.join('\n'));
    expect(await compile(into, 'declarations')).toEqual(nothing);
  });
});

// The oldest supported version and the newest one. All else runs on the Node of these tests.
it.each(['22.18', '26'])('an installation on Node %s runs every package', async (name) => {
  const node = join(tools, `node_modules/node-${name}/bin/node`);
  const run = async (...args: readonly string[]) => runIn(app, node, args, { node });
  expect(await compile(app, 'nodenext')).toEqual(nothing);
  const out = 'out/nodenext';
  const inMemory = printing('Monstera, climber; id-taken 1401; false');
  expect(await run(`${out}/use-core.js`)).toEqual(inMemory);
  const inFile = await run(`${out}/use-sqlite.js`, `plants-${name}.db`);
  expect(inFile).toEqual(printing('Monstera; Monstera; id-taken'));
  expect(await run(`${out}/use-postgres.js`)).toEqual(printing('unreachable'));
  const throughServer = printing('Monstera; id-taken; token-rejected');
  expect(await run(`${out}/use-server.js`)).toEqual(throughServer);
  expect(await run('use-require.cjs')).toEqual(printing('Monstera; 0; 500; Plant Store'));
  const check = ['check', `--database=sqlite:plants-${name}.db`];
  expect((await runIn(app, bin, check, { node })).stderr).toBe('');
  const throughNpx = await runIn(app, 'npx', ['plantstore', '--version'], { node });
  expect(throughNpx.stdout).toBe(`${version}\n`);
});

describe('a minimal installation', () => {
  it('a minimal installation has one copy of the oldest neverthrow, no zod, and compiles and runs', async () => {
    expect(await copiesOfNeverthrow(minimal)).toEqual(['neverthrow/package.json']);
    expect(await readManifest(minimal, 'neverthrow')).toHaveProperty('version', '7.2.0');
    expect(await readdir(join(minimal, 'node_modules'))).not.toContain('zod');
    for (const project of ['types', 'nodenext'] as const)
      expect(await compile(minimal, project)).toEqual(nothing);
    const run = async (file: string) => (await runIn(minimal, process.execPath, [file])).stdout;
    expect(await run('out/types/use-types.js')).toBe('Monstera\n');
    expect(await run('out/nodenext/use-core.js')).toBe('Monstera, climber; id-taken 1401; false\n');
    expect(await run('out/nodenext/use-server.js')).toBe('Monstera; id-taken; token-rejected\n');
  });

  const advice = (name: string) =>
    `requires the package ${name}: npm install ${name}, or npm install --global ${name} if plantstore is installed globally\n`;

  it('the program without the PostgreSQL store names the package to install', async () => {
    const installed = join(minimal, 'node_modules/@plantstore/postgres');
    const renamed = join(minimal, 'postgres-away');
    await rename(installed, renamed);
    onTestFinished(async () => rename(renamed, installed));
    const args = ['--database', 'postgres://ada:s3cr3t@127.0.0.1:1/garden'];
    await expect(runIn(minimal, bin, args)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `plantstore: cannot open the database (--database, PLANTSTORE_DATABASE): a postgres:// database ${advice('@plantstore/postgres')}`,
    });
  });

  it('the program without prom-client names the package that --metrics on needs', async () => {
    const args = ['--database', 'memory:', '--health-port', '0', '--metrics', 'on'];
    await expect(runIn(minimal, bin, args)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `plantstore: --metrics on (PLANTSTORE_METRICS) ${advice('prom-client')}`,
    });
  });

  it('the program on Node 20 prints the required Node version, without a stack trace', async () => {
    const node = join(tools, 'node_modules/node-20/bin/node');
    const message = /^plantstore: needs Node 22\.18 or newer; this is v20\.[\d.]+\n$/;
    await expect(runIn(minimal, bin, ['--version'], { node })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message) as unknown,
    });
  });
});

it('pnpm installs the packages beside zod 3 and an old prom-client, and the part that needs another version names it', async () => {
  const into = join(folder, 'old-peers');
  await pnpmWithoutHoisting(into, registry, { ...latest, zod: '3', 'prom-client': '12' });
  const load = async (entry: string) =>
    runIn(into, process.execPath, [
      '--eval',
      `import('@plantstore/${entry}').catch(({ message }) => console.log(message))`,
    ]);
  expect(await load('core')).toEqual(nothing);
  const needsZod = '@plantstore/core/schemas requires zod 4: npm install zod@4';
  expect(await load('core/schemas')).toEqual(printing(needsZod));
  const args = ['--check-settings', '--database=memory:', '--health-port=0', '--metrics=on'];
  const { stderr } = await runIn(into, bin, args).catch((failed: unknown) => failed as Output);
  expect(stderr).toMatch(/^plantstore: --metrics on .* requires prom-client 13 or newer/);
});

it('the client, installed alone without hoisting, brings neverthrow only, compiles and runs', async () => {
  const installed = await readdir(join(client, 'node_modules/.pnpm'));
  const names = installed.map((name) => name.replace(/(?<=.)@.*$/, ''));
  expect(names.filter((name) => !/^(lock\.yaml|node_modules)$/.test(name)).toSorted()).toEqual([
    '@plantstore+client',
    'neverthrow',
  ]);
  expect(await compile(client, 'browser-nodenext')).toEqual(nothing);
  const script = "console.log(Object.keys(await import('@plantstore/client')).join())";
  const { stdout } = await runIn(client, process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('createClient\n');
});
