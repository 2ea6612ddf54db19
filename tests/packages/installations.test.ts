import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorTable } from '@plantstore/core/errors';
import { freePort } from '@plantstore/test-support/free-port';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { newFolder, post, spawnProgram, startProgram } from '../black-box/program.ts';
import {
  bun,
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
import { type Output, runIn, untilItResponds } from './run-in.ts';

/** Installations download packages. */
const minutes = 60_000;
const consumer = fileURLToPath(new URL('consumer', import.meta.url));
const examples = fileURLToPath(new URL('../../examples', import.meta.url));
const { app, tools, registry, version } = inject('release');
const bin = join('node_modules', '.bin', 'plantstore');

const folder = await newFolder(afterAll);
/** By the name of the package manager. */
let installations: Readonly<Record<string, Installation>>;
/** With the oldest neverthrow that the packages accept, and without zod and prom-client. */
const minimal = join(folder, 'minimal');
/** With the client alone, by pnpm without hoisting. */
const client = join(folder, 'client');

beforeAll(async () => {
  const [pnpm, globally, yarn] = await Promise.all([
    pnpmWithoutHoisting(join(folder, 'pnpm'), registry),
    npmGlobally(join(folder, 'global'), registry),
    yarnPlugAndPlay(join(folder, 'yarn'), registry),
    npm(minimal, registry, { ...latest, ...compiler, neverthrow: '7.2.0' }),
    pnpmWithoutHoisting(client, registry, { '@plantstore/client': 'latest' }),
  ]);
  await cp(consumer, minimal, { recursive: true });
  await cp(consumer, client, { recursive: true });
  installations = {
    npm: installationIn(app),
    'pnpm without hoisting': pnpm,
    'npm, globally and side by side': globally,
    "Yarn's Plug'n'Play": yarn,
  };
}, 5 * minutes);

/** Compiles a project in a folder with a version of TypeScript; by default, that of the catalog. */
const compile = async (
  inFolder: string,
  project: string,
  typescript = join(app, 'node_modules/typescript'),
) =>
  runIn(inFolder, process.execPath, [
    join(typescript, 'bin/tsc'),
    '-p',
    `tsconfig.${project}.json`,
  ]);

const nothing = { stdout: '', stderr: '' };
const printing = (stdout: string) => ({ stdout: `${stdout}\n`, stderr: '' });

/** Returns the paths of the manifests of all copies of neverthrow. */
const copiesOfNeverthrow = async (inFolder: string) =>
  (await readdir(join(inFolder, 'node_modules'), { recursive: true })).filter((path) =>
    path.endsWith('neverthrow/package.json'),
  );

const readManifest = async (inFolder: string, name: string) =>
  JSON.parse(
    await readFile(join(inFolder, 'node_modules', name, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string> | undefined>;

describe('the packed manifests', () => {
  it.each([
    ['core', ['neverthrow'], ['zod']],
    ['sqlite', ['@plantstore/core', 'neverthrow'], []],
    ['postgres', ['@plantstore/core', 'neverthrow', 'pg', 'pg-connection-string', 'pgpass'], []],
    ['server', ['@plantstore/core', 'neverthrow'], []],
    [
      'plantstore',
      ['@plantstore/core', '@plantstore/server', '@plantstore/sqlite', 'neverthrow'],
      ['@plantstore/postgres', 'prom-client'],
    ],
    ['client', ['neverthrow'], []],
  ])(
    'the packed manifest of %s has the dependencies %j and the optional peers %j only',
    async (name, dependencies, optional) => {
      const manifest = await readManifest(
        app,
        name === 'plantstore' ? name : `@plantstore/${name}`,
      );
      expect(Object.keys(manifest['dependencies'] ?? {}).toSorted()).toEqual(dependencies);
      expect(manifest).not.toHaveProperty('optionalDependencies');
      const ranges = manifest['peerDependencies'] ?? {};
      expect(Object.keys(ranges)).toEqual(optional);
      for (const [peer, range] of Object.entries(ranges)) {
        expect(range).toMatch(peer === '@plantstore/postgres' ? /^\^/ : /^\*$/);
      }
      const meta = optional.map((peer) => [peer, { optional: true }]);
      expect(manifest['peerDependenciesMeta'] ?? {}).toEqual(Object.fromEntries(meta));
    },
  );
});

describe('a bundle for browsers', () => {
  /** Bundles a package as an app does. */
  const bundle = async (name: string): Promise<string> => {
    const outDir = join(app, 'bundles');
    await build({
      config: false,
      silent: true,
      entry: {
        [name]: join(app, `node_modules/@plantstore/${name}/dist/index.js`),
      },
      format: ['esm'],
      platform: 'browser',
      noExternal: [/./],
      treeshake: true,
      outDir,
    });
    return readFile(join(outDir, `${name}.js`), 'utf8');
  };
  const isIn = (code: string) => (text: string) => code.includes(text);
  const zodNames = ['ZodError', '$ZodType', '$ZodCheck', '_zod', 'toJSONSchema'];

  it('a bundle of the client for browsers contains nothing of zod, of Node, or of the server', async () => {
    const serverMessages = [errorTable['body-missing'].message, errorTable['id-taken'].message];
    const unwanted = [...zodNames, 'node:', 'process.', 'Buffer.', 'require(', ...serverMessages];
    expect(unwanted.filter(isIn(await bundle('client')))).toEqual([]);
  });

  it('a bundle of core for browsers contains zod, under the names that the client must not contain', async () => {
    expect(zodNames.filter(isIn(await bundle('core')))).not.toEqual([]);
  });
});

describe.each([
  'npm',
  'pnpm without hoisting',
  'npm, globally and side by side',
  "Yarn's Plug'n'Play",
])('installed by %s', { timeout: 5 * minutes }, (name) => {
  let installation: Installation;

  beforeAll(() => {
    installation = installations[name] as Installation;
  });

  it(`an installation by ${name} imports every export of every package`, async () => {
    const { folder: into } = installation;
    await cp(join(consumer, 'import-all.mjs'), join(into, 'import-all.mjs'));
    const args = ['import-all.mjs', ...Object.keys(latest)];
    const { stdout } = await runIn(into, process.execPath, args, installation);
    expect(stdout.trim().split('\n').toSorted()).toEqual(specifiers);
  });

  it(`an installation by ${name} runs the examples of the pages`, async () => {
    const { folder: into, env } = installation;
    for (const file of ['first-core.ts', 'embed-server.ts', 'first-client.ts']) {
      await cp(join(examples, file), join(into, file));
    }
    const run = async (file: string, more: Readonly<Record<string, string>> = {}) =>
      runIn(into, process.execPath, [file], { env: { ...env, ...more } });
    expect((await run('first-core.ts')).stdout).toBe('created Monstera\n');
    const port = await freePort();
    const server = spawn(process.execPath, ['embed-server.ts'], {
      cwd: into,
      env: { ...env, PORT: String(port), PLANT_TOKEN: 'example' },
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
    const [command, ...args] = installation.bin;
    const { stdout } = await runIn(
      installation.folder,
      command,
      [...args, '--version'],
      installation,
    );
    expect(stdout).toBe(`${version}\n`);
  });

  it(`an installation by ${name} creates plants in a file through the program`, async () => {
    const database = `sqlite:${join(await newFolder(), 'plants.db')}`;
    const { bin: command, env } = installation;
    const server = await startProgram({ command, env, args: ['--database', database] });
    expect(await post(server.url, '{"id":7,"name":"Monstera"}')).toMatchObject({ status: 200 });
    expect(await post(server.url, '{"id":7,"name":"Ficus"}')).toEqual({ status: 400, error: 1401 });
    server.process.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  it(`an installation by ${name} loads the PostgreSQL store for a PostgreSQL URL`, async () => {
    const { bin: command, env } = installation;
    const args = ['--database', 'postgres://ada:s3cr3t@127.0.0.1:1/garden'];
    const server = spawnProgram({ command, env, args });
    expect(await server.exited).toBe(1);
    expect(server.stderr()).toContain('no database server can be reached');
  });
});

describe('installation with TypeScript', { timeout: 5 * minutes }, () => {
  it.each(['nodenext', 'bundler', 'inexact', 'browser', 'browser-nodenext'])(
    'an installation with TypeScript compiles with the packages as %s',
    async (project) => {
      expect(await compile(app, project)).toEqual(nothing);
    },
  );

  it.each([
    ['5.4', 'types'],
    ['5.4', 'node10'],
    ['5.9', 'types'],
    ['6.0', 'types'],
  ])(
    'an installation with TypeScript %s compiles a page of types as %s',
    async (typescript, project) => {
      const path = join(tools, `node_modules/typescript-${typescript}`);
      expect(await compile(app, project, path)).toEqual(nothing);
    },
  );

  it('an installation with the newest neverthrow has one copy of it', async () => {
    expect(await copiesOfNeverthrow(app)).toEqual(['neverthrow/package.json']);
    expect(await readManifest(app, 'neverthrow')).toMatchObject({
      version: expect.stringMatching(/^8\./) as unknown,
    });
  });

  it('an installation with zod compiles with the schemas of core, and runs', async () => {
    expect(await compile(app, 'schemas')).toEqual(nothing);
    expect(await runIn(app, process.execPath, ['out/schemas/use-schemas.js'])).toEqual(
      printing(
        `7 Monstera; ${errorTable['id-not-integer'].message}; ${errorTable['name-required'].message}`,
      ),
    );
  });
});

// The oldest supported version and the newest one. The others run on the version that runs the tests.
describe.each(['22.18', '26'])('an installation on Node %s', { timeout: 5 * minutes }, (name) => {
  const node = join(tools, `node_modules/node-${name}/bin/node`);
  const run = async (...args: readonly string[]) => runIn(app, node, args, { node });

  beforeAll(async () => {
    await compile(app, 'nodenext');
  });

  it(`an installation on Node ${name} creates plants in memory`, async () => {
    expect(await run('out/nodenext/use-core.js')).toEqual(
      printing('Monstera, climber; id-taken 1401; false'),
    );
  });

  it(`an installation on Node ${name} creates plants in a file`, async () => {
    expect(await run('out/nodenext/use-sqlite.js', `plants-${name}.db`)).toEqual(
      printing('Monstera; Monstera; id-taken'),
    );
    const args = ['check', `--database=sqlite:plants-${name}.db`];
    expect((await runIn(app, bin, args, { node })).stderr).not.toContain('Warning');
  });

  it(`an installation on Node ${name} returns unreachable if there is no database server`, async () => {
    expect(await run('out/nodenext/use-postgres.js')).toEqual(printing('unreachable'));
  });

  it(`an installation on Node ${name} creates plants through a server and a client`, async () => {
    expect(await run('out/nodenext/use-server.js')).toEqual(
      printing('Monstera; id-taken; token-rejected'),
    );
  });

  it(`an installation on Node ${name} can require every package`, async () => {
    expect(await run('use-require.cjs')).toEqual(printing('Monstera; 0; 500; Plant Store'));
  });

  it(`an installation on Node ${name} prints the version of the program`, async () => {
    expect(await runIn(app, bin, ['--version'], { node })).toEqual(printing(version));
    const throughNpx = await runIn(app, 'npx', ['plantstore', '--version'], { node });
    expect(throughNpx.stdout).toBe(`${version}\n`);
    expect(throughNpx.stderr).not.toContain('ExperimentalWarning');
  });
});

describe('a minimal installation', { timeout: 5 * minutes }, () => {
  it('a minimal installation has one copy of the oldest neverthrow, and no zod', async () => {
    expect(await copiesOfNeverthrow(minimal)).toEqual(['neverthrow/package.json']);
    expect(await readManifest(minimal, 'neverthrow')).toHaveProperty('version', '7.2.0');
    expect(await readdir(join(minimal, 'node_modules'))).not.toContain('zod');
  });

  it('a minimal installation compiles and runs', async () => {
    for (const project of ['types', 'nodenext', 'browser']) {
      expect(await compile(minimal, project)).toEqual(nothing);
    }
    const run = async (file: string) => (await runIn(minimal, process.execPath, [file])).stdout;
    expect(await run('out/types/use-types.js')).toBe('Monstera\n');
    expect(await run('out/nodenext/use-core.js')).toBe('Monstera, climber; id-taken 1401; false\n');
    expect(await run('out/nodenext/use-server.js')).toBe('Monstera; id-taken; token-rejected\n');
  });

  it('the program without the PostgreSQL store names the package to install', async () => {
    const installed = join(minimal, 'node_modules/@plantstore/postgres');
    const renamed = join(minimal, 'postgres-away');
    await rename(installed, renamed);
    onTestFinished(async () => rename(renamed, installed));
    await expect(
      runIn(minimal, bin, ['--database', 'postgres://ada:s3cr3t@127.0.0.1:1/garden']),
    ).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'plantstore: cannot open the database (--database, PLANTSTORE_DATABASE): a postgres:// database requires the package @plantstore/postgres: npm install @plantstore/postgres, or npm install --global @plantstore/postgres if plantstore is installed globally\n',
    });
  });

  it('the program without prom-client names the package that --metrics on needs', async () => {
    const args = ['--database', 'memory:', '--health-port', '0', '--metrics', 'on'];
    await expect(runIn(minimal, bin, args)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'plantstore: --metrics on (PLANTSTORE_METRICS) requires the package prom-client: npm install prom-client, or npm install --global prom-client if plantstore is installed globally\n',
    });
  });

  it('the program on Node 20 prints the required Node version, without a stack trace', async () => {
    const node = join(tools, 'node_modules/node-20/bin/node');
    await expect(runIn(minimal, bin, ['--version'], { node })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^plantstore: needs Node 22\.18 or newer; this is v20\.[\d.]+\n$/,
      ) as unknown,
    });
  });
});

describe('beside zod 3 and an old prom-client', { timeout: 5 * minutes }, () => {
  it.each([
    ['npm', npm, '12', /^plantstore: --metrics on .* requires prom-client 13 or newer/],
    ['pnpm', pnpmWithoutHoisting, '14', /^$/],
    ['Bun', bun, '14', /^$/],
  ])(
    'beside zod 3 and an old prom-client, %s installs the packages, and the part that needs another version names it',
    async (name, install, prometheus, message) => {
      const into = join(folder, `old-peers-${name}`);
      await install(into, registry, { ...latest, zod: '3', 'prom-client': prometheus });
      const load = async (entry: string) =>
        runIn(into, process.execPath, [
          '--eval',
          `import('@plantstore/${entry}').catch(({ message }) => console.log(message))`,
        ]);
      expect(await load('core')).toEqual(nothing);
      expect(await load('core/schemas')).toEqual(
        printing('@plantstore/core/schemas requires zod 4: npm install zod@4'),
      );
      const args = ['--check-settings', '--database', 'memory:', '--health-port', '0'];
      const { stderr } = await runIn(into, bin, [...args, '--metrics', 'on']).catch(
        (failed: unknown) => failed as Output,
      );
      expect(stderr).toMatch(message);
    },
  );
});

describe('an app without hoisting', { timeout: 5 * minutes }, () => {
  const plant = "{ id: 7n, name: 'Monstera' }";

  it.each([
    [
      'client',
      `createClient({ baseUrl: 'http://plants.test', token: 'any' }).createPlant(${plant})`,
    ],
    ['core', 'createPlant(entry.createMemoryRepository(), {})'],
    ['core/group-commit', `createGroupCommit({ lanes: [] }).create(${plant})`],
    ['core/wire', 'decodeBody(new Uint8Array())'],
    ['postgres', "openPostgresRepository({ url: 'postgres://db/garden' })"],
    ['server', 'optionRules'],
    ['sqlite', "openSqliteRepository({ path: 'plants.db' })"],
  ])('an app without hoisting has declarations with the results of %s', async (name, value) => {
    const { folder: into } = installations['pnpm without hoisting'] as Installation;
    const file = `declares-${name.replace('/', '-')}.ts`;
    const lines = [
      `import * as entry from '@plantstore/${name}';`,
      `export const run = () => entry.${value};`,
      'export const awaited = async () => run();',
    ];
    await writeFile(join(into, file), lines.join('\n'));
    for (const typescript of [
      join(app, 'node_modules/typescript'),
      join(tools, 'node_modules/typescript-5.9'),
    ]) {
      const options = ['--declaration', '--emitDeclarationOnly', '--strict', '--skipLibCheck'];
      const modules = ['--target', 'es2024', '--module', 'nodenext', '--outDir', 'declarations'];
      const args = [join(typescript, 'bin/tsc'), ...options, ...modules, file];
      expect(await runIn(into, process.execPath, args)).toEqual(nothing);
    }
  });
});

describe('client, installed alone without hoisting', { timeout: 5 * minutes }, () => {
  it('the client, installed alone, brings neverthrow and no other package', async () => {
    const installed = await readdir(join(client, 'node_modules/.pnpm'));
    const names = installed.map((name) => name.replace(/(?<=.)@.*$/, ''));
    expect(names.filter((name) => !/^(lock\.yaml|node_modules)$/.test(name)).toSorted()).toEqual([
      '@plantstore+client',
      'neverthrow',
    ]);
  });

  it('the client, installed alone, runs', async () => {
    const script = "console.log(Object.keys(await import('@plantstore/client')).join())";
    const { stdout } = await runIn(client, process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('createClient\n');
  });

  it('the client, installed alone, compiles with its declarations', async () => {
    expect(await compile(client, 'browser-nodenext')).toEqual(nothing);
  });
});
