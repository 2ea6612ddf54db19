import { cp, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installClient } from './layouts.ts';
import { installOutsideWorkspace, type Installation } from './install-outside-workspace.ts';
import { runIn } from './run-in.ts';

/** Installations download packages and runtimes. */
const minutes = 60_000;

let installation: Installation;

beforeAll(async () => {
  installation = await installOutsideWorkspace();
}, 5 * minutes);

afterAll(async () => installation?.remove());

const tsc = async (project: string) =>
  installation.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project]);

describe('the packed manifests', () => {
  it.each([
    ['core', ['neverthrow']],
    ['sqlite', ['@plantstore/core', 'neverthrow']],
    ['postgres', ['@plantstore/core', 'neverthrow', 'pg', 'pg-connection-string', 'pgpass']],
    ['server', ['@plantstore/core', '@plantstore/sqlite', 'neverthrow']],
    ['client', ['neverthrow']],
  ])('the packed manifest of %s has the dependencies %j only', async (name, expected) => {
    const text = await installation.read(`@plantstore/${name}/package.json`);
    const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
    expect(Object.keys(manifest['dependencies'] ?? {}).toSorted()).toEqual(expected);
    expect(manifest).not.toHaveProperty('optionalDependencies');
    const optional = { core: ['zod'], server: ['@plantstore/postgres', 'prom-client'] }[name];
    expect(Object.keys(manifest['peerDependencies'] ?? {})).toEqual(optional ?? []);
    expect(Object.keys(manifest['peerDependenciesMeta'] ?? {})).toEqual(optional ?? []);
  });

  it('the packed manifests of all packages together bring no zod', async () => {
    const installed = await readdir(join(installation.folder, 'node_modules'));
    expect(installed).toContain('neverthrow');
    expect(installed).not.toContain('zod');
  });

  it('the packed manifest of server has the PostgreSQL store and prom-client as optional peer dependencies', async () => {
    const manifest = JSON.parse(
      await installation.read('@plantstore/server/package.json'),
    ) as unknown;
    expect(manifest).toMatchObject({
      peerDependencies: {
        '@plantstore/postgres': expect.any(String) as unknown,
        'prom-client': expect.stringMatching(/^\^/) as unknown,
      },
      peerDependenciesMeta: {
        '@plantstore/postgres': { optional: true },
        'prom-client': { optional: true },
      },
    });
  });
});

describe('a bundle for browsers', () => {
  /** Bundles a package as an app does. */
  const bundle = async (name: string): Promise<string> => {
    const outDir = join(installation.folder, 'bundles');
    await build({
      config: false,
      silent: true,
      entry: {
        [name]: join(installation.folder, `node_modules/@plantstore/${name}/dist/index.js`),
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
    const serverMessages = ['a JSON body is required', 'another plant has this id'];
    const unwanted = [...zodNames, 'node:', 'process.', 'Buffer.', 'require(', ...serverMessages];
    expect(unwanted.filter(isIn(await bundle('client')))).toEqual([]);
  });

  it('a bundle of core for browsers contains zod, under the names that the client must not contain', async () => {
    expect(zodNames.filter(isIn(await bundle('core')))).not.toEqual([]);
  });
});

describe('installation with TypeScript', { timeout: minutes }, () => {
  it.each(['nodenext', 'bundler', 'inexact'])(
    'an installation with TypeScript compiles with the packages as %s',
    async (resolution) => {
      await expect(tsc(`tsconfig.${resolution}.json`)).resolves.toEqual({ stdout: '', stderr: '' });
    },
  );

  it.each(['browser', 'browser-nodenext'])(
    'an installation with TypeScript compiles with the client and browser types only, as %s',
    async (project) => {
      await expect(tsc(`tsconfig.${project}.json`)).resolves.toEqual({ stdout: '', stderr: '' });
    },
  );
});

describe('installation with older versions of TypeScript', { timeout: minutes }, () => {
  it.each([
    ['5.4', 'types'],
    ['5.4', 'node10'],
    ['5.9', 'types'],
    ['5.9', 'node10'],
    ['6.0', 'types'],
    ['7.0', 'types'],
  ])(
    'an installation with TypeScript %s compiles a page of types as %s',
    async (version, project) => {
      const compiler = await installation.getTypeScript(version);
      const args = [compiler, '-p', `tsconfig.${project}.json`];
      const output = await installation.run(process.execPath, args);
      expect(output).toEqual({ stdout: '', stderr: '' });
    },
  );
});

// The oldest version that the packages accept, and the newest one.
describe.each(['7.2.0', '8.2.0'])(
  'installation with neverthrow %s',
  { timeout: minutes },
  (neverthrow) => {
    let app: Installation;

    beforeAll(async () => {
      app = await installOutsideWorkspace([], { neverthrow });
    }, 5 * minutes);

    afterAll(async () => app?.remove());

    it(`an installation with neverthrow ${neverthrow} has one copy of it, compiles and runs`, async () => {
      const copies = (await readdir(join(app.folder, 'node_modules'), { recursive: true })).filter(
        (path) => path.endsWith('neverthrow/package.json'),
      );
      expect(copies).toEqual(['neverthrow/package.json']);
      const manifest = JSON.parse(await app.read('neverthrow/package.json')) as unknown;
      expect(manifest).toHaveProperty('version', neverthrow);
      const compiler = join(app.folder, 'node_modules/typescript/bin/tsc');
      for (const project of ['types', 'nodenext', 'browser']) {
        const args = [compiler, '-p', `tsconfig.${project}.json`];
        const output = await app.run(process.execPath, args);
        expect(output).toEqual({ stdout: '', stderr: '' });
      }
      const run = async (file: string) => (await app.run(process.execPath, [file])).stdout;
      expect(await run('out/types/use-types.js')).toBe('Monstera\n');
      expect(await run('out/nodenext/use-core.js')).toBe(
        'Monstera, climber; id-taken 1401; false\n',
      );
      expect(await run('out/nodenext/use-server.js')).toBe('Monstera; id-taken; token-rejected\n');
    });
  },
);

// The oldest supported version, the version that runs the tests, and the newest one.
describe.each(['22.18.0', 'this', '26'])(
  'an installation on Node %s',
  { timeout: minutes },
  (node) => {
    let path: string;

    beforeAll(async () => {
      path = node === 'this' ? process.execPath : await installation.getNode(node);
      await tsc('tsconfig.nodenext.json');
    }, 5 * minutes);

    const run = async (...args: readonly string[]) => installation.run(path, args, path);
    const printing = (stdout: string) => ({ stdout: `${stdout}\n`, stderr: '' });

    it(`an installation on Node ${node} runs this version`, async () => {
      const { stdout } = await run('--version');
      expect(stdout).toContain(node === 'this' ? process.version : `v${node}`);
    });

    it(`an installation on Node ${node} creates plants in memory`, async () => {
      expect(await run('out/nodenext/use-core.js')).toEqual(
        printing('Monstera, climber; id-taken 1401; false'),
      );
    });

    it(`an installation on Node ${node} creates plants in a file`, async () => {
      expect(await run('out/nodenext/use-sqlite.js', `plants-${node}.db`)).toEqual(
        printing('Monstera; Monstera; id-taken'),
      );
    });

    it(`an installation on Node ${node} returns unreachable if there is no database server`, async () => {
      expect(await run('out/nodenext/use-postgres.js')).toEqual(printing('unreachable'));
    });

    it(`an installation on Node ${node} creates plants through a server and a client`, async () => {
      expect(await run('out/nodenext/use-server.js')).toEqual(
        printing('Monstera; id-taken; token-rejected'),
      );
    });

    it(`an installation on Node ${node} can require every package`, async () => {
      expect(await run('use-require.cjs')).toEqual(printing('Monstera; 0; 500; Plant Store'));
    });

    it(`an installation on Node ${node} prints the version of the bundled server`, async () => {
      const manifest = await installation.read('@plantstore/server/package.json');
      const { version } = JSON.parse(manifest) as { version: string };
      const bin = join('node_modules', '.bin', 'plantstore-server');
      expect(await installation.run(bin, ['--version'], path)).toEqual(printing(version));
      const throughNpx = await installation.run('npx', ['plantstore-server', '--version'], path);
      expect(throughNpx.stdout).toBe(`${version}\n`);
      expect(throughNpx.stderr).not.toContain('ExperimentalWarning');
    });
  },
);

describe('core, installed with zod', { timeout: minutes }, () => {
  let app: Installation;

  beforeAll(async () => {
    app = await installOutsideWorkspace(['zod']);
  }, 5 * minutes);

  afterAll(async () => app?.remove());

  it('core that is installed with zod compiles with its schemas, and runs', async () => {
    const compiler = join(app.folder, 'node_modules/typescript/bin/tsc');
    const output = await app.run(process.execPath, [compiler, '-p', 'tsconfig.schemas.json']);
    expect(output).toEqual({ stdout: '', stderr: '' });
    expect(await app.run(process.execPath, ['out/schemas/use-schemas.js'])).toEqual({
      stdout: '7 Monstera; id must be an exact integer; name is required\n',
      stderr: '',
    });
  });
});

describe('client, installed alone without hoisting', { timeout: minutes }, () => {
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plantstore-client-'));
    await installClient(folder);
  }, 5 * minutes);

  afterAll(async () => rm(folder, { recursive: true, force: true }));

  it('the client, installed alone, brings neverthrow and no other package', async () => {
    const installed = await readdir(join(folder, 'node_modules/.pnpm'));
    const names = installed.map((name) => name.replace(/(?<=.)@.*$/, ''));
    expect(names.filter((name) => !/^(lock\.yaml|node_modules)$/.test(name)).toSorted()).toEqual([
      '@plantstore+client',
      'neverthrow',
    ]);
  });

  it('the client, installed alone, runs', async () => {
    const script = "console.log(Object.keys(await import('@plantstore/client')).join())";
    const { stdout } = await runIn(folder, process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('createClient,createPlants\n');
  });

  it('the client, installed alone, compiles with its declarations', async () => {
    for (const file of ['use-in-browser.ts', 'tsconfig.browser-nodenext.json']) {
      await cp(fileURLToPath(new URL(`consumer/${file}`, import.meta.url)), join(folder, file));
    }
    const compiler = join(installation.folder, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', 'tsconfig.browser-nodenext.json'];
    await expect(runIn(folder, process.execPath, args)).resolves.toEqual({
      stdout: '',
      stderr: '',
    });
  });
});

describe('an installation without the PostgreSQL store', () => {
  it('a bundled server without the PostgreSQL store names the package to install', async () => {
    const installed = join(installation.folder, 'node_modules/@plantstore/postgres');
    const renamed = join(installation.folder, 'postgres-away');
    await rename(installed, renamed);
    onTestFinished(async () => rename(renamed, installed));
    const bin = join('node_modules', '.bin', 'plantstore-server');
    await expect(
      installation.run(bin, ['--database', 'postgres://ada:s3cr3t@127.0.0.1:1/garden']),
    ).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^plantstore-server: cannot open the database \(--database, PLANTSTORE_DATABASE\): a postgres:\/\/ database requires the package @plantstore\/postgres: npm install @plantstore\/postgres, or npm install --global @plantstore\/postgres if plantstore-server is installed globally\n$/,
      ) as unknown,
    });
  });
});

describe('an installation without prom-client', () => {
  it('a bundled server without prom-client names the package that --metrics on needs', async () => {
    const bin = join('node_modules', '.bin', 'plantstore-server');
    const args = ['--database', 'memory:', '--health-port', '0', '--metrics', 'on'];
    await expect(installation.run(bin, args)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'plantstore-server: --metrics on (PLANTSTORE_METRICS) requires the package prom-client: npm install prom-client, or npm install --global prom-client if plantstore-server is installed globally\n',
    });
  });
});

describe('an installation on Node 20', () => {
  it(
    'a bundled server on Node 20 prints the required Node version, without a stack trace',
    async () => {
      const node = await installation.getNode('20');
      const bin = join('node_modules', '.bin', 'plantstore-server');
      await expect(installation.run(bin, ['--version'], node)).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^plantstore-server: needs Node 22\.18 or newer; this is v20\.[\d.]+\n$/,
        ) as unknown,
      });
    },
    5 * minutes,
  );
});
