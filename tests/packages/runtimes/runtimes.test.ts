import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installAsStranger, type Stranger } from '../stranger.ts';
import type { Finding } from './guest/suite.ts';
import { kept, newerBuiltIns, type Versions, versionsOf } from './newer-built-ins.ts';
import { installOldChromium } from './old-chromium.ts';
import { servePage, startServers } from './servers.ts';

const minutes = 60_000;
const run = promisify(execFile);
const guest = fileURLToPath(new URL('guest', import.meta.url));

let stranger: Stranger;
let promised: Versions;
// Nothing of this machine's owner, and nothing left behind: caches and profiles go here, too.
let env: { HOME: string; PATH: string | undefined };

beforeAll(async () => {
  stranger = await installAsStranger();
  env = { HOME: stranger.folder, PATH: process.env['PATH'] };
  await cp(guest, join(stranger.folder, 'guest'), { recursive: true });
  const manifest = JSON.parse(await stranger.read('@plantstore/client/package.json')) as {
    browserslist: string[];
  };
  promised = versionsOf(manifest.browserslist);
}, 5 * minutes);

afterAll(async () => stranger?.leave());

const expectAllWell = (findings: readonly Finding[]) => {
  expect(findings.filter(({ told }) => told !== '')).toEqual([]);
  expect(findings.length).toBeGreaterThan(15);
};

/** The packed client and the suite in one file, as an app's bundler would make it. */
const bundle = async (entry: string, target = 'es2022'): Promise<string> => {
  await build({
    config: false,
    silent: true,
    entry: { [entry]: join(stranger.folder, `guest/${entry}.ts`) },
    format: ['esm'],
    platform: 'browser',
    target,
    noExternal: [/./],
    outDir: join(stranger.folder, 'bundles'),
  });
  return join(stranger.folder, `bundles/${entry}.js`);
};

describe('the packed client passes the suite', { timeout: 2 * minutes }, () => {
  const node = async (version: string) => stranger.getNode(version);

  it.each([
    ['Node 22.18', async () => [await node('22.18.0')]],
    ['the Node that runs this', async () => [process.execPath]],
    ['Node 26', async () => [await node('26')]],
    ['Deno', async () => [await stranger.getProgram('deno'), 'run', '--no-prompt', '-A']],
    ['Bun', async () => [await stranger.getProgram('bun')]],
  ])('on %s', async (_, get) => {
    const [command = '', ...flags] = await get();
    const program = join(stranger.folder, 'guest/program.ts');
    const settings = JSON.stringify(await startServers());
    const { stdout } = await run(command, [...flags, program, settings], { env });
    expectAllWell(JSON.parse(stdout) as Finding[]);
  });

  it('on Node without the built-ins that an oldest promised browser lacks', async () => {
    const program = join(stranger.folder, 'guest/program.ts');
    const preload = join(stranger.folder, 'guest/remove-built-ins.ts');
    const list = join(stranger.folder, 'guest/newer-built-ins.json');
    await writeFile(list, JSON.stringify(newerBuiltIns(promised)));
    const settings = JSON.stringify(await startServers());
    const flags = ['--disable-warning=ExperimentalWarning', '--import', preload];
    const { stdout, stderr } = await run(process.execPath, [...flags, program, settings], { env });
    expect(JSON.parse(stderr)).toEqual(expect.arrayContaining(newerExamples));
    const client = await stranger.read('@plantstore/client/dist/index.js');
    expect(kept.filter((path) => client.includes(path.slice(path.lastIndexOf('.'))))).toEqual([]);
    expectAllWell(JSON.parse(stdout) as Finding[]);
  });

  it('on workerd', async () => {
    const workerd = await stranger.getProgram('workerd');
    await bundle('worker');
    const config = join(stranger.folder, 'workerd.capnp');
    await writeFile(config, workerdConfig);
    const worker = spawn(workerd, ['serve', config, '--control-fd=1'], {
      env,
      // It tells there, with stacks, of each connection that the suite means to fail.
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
    expectAllWell((await response.json()) as Finding[]);
  });

  /** Opens a page of another origin, and gives what it finds there and the browser's name for itself. */
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

  it('on a page of another origin in Chromium', async ({ skip }) => {
    const isThere = spawnSync('chromium', ['--version']).status === 0;
    skip(!isThere, 'there is no chromium here; .ci/run installs it');
    expectAllWell((await openPage('chromium', 'es2022', env)).findings);
  });

  it('on a page in the oldest promised Chromium', async ({ skip }) => {
    const { platform, arch } = process;
    skip(platform !== 'linux' || arch !== 'x64', 'npm has it only for Linux on x64');
    const { program, libraries } = await installOldChromium(stranger);
    // Without a target, the bundler leaves the client's syntax as it is.
    const browserEnv = { ...env, LD_LIBRARY_PATH: libraries };
    const { findings, userAgent } = await openPage(program, 'esnext', browserEnv);
    expect(userAgent).toContain(`HeadlessChrome/${promised['chrome']}.`);
    expectAllWell(findings);
  });
});

describe('the syntax of the oldest promised browsers', () => {
  /** Whether a bundler leaves a module as it is for these browsers. */
  const suffices = async (file: string): Promise<boolean> => {
    const browsers = Object.entries(promised).map(([name, version]) => `${name}${version}`);
    const write = async (name: string, target: string | string[]) => {
      const outDir = join(stranger.folder, 'syntax', name);
      const entry = { module: file };
      const format = ['esm' as const];
      await build({ config: false, silent: true, entry, format, bundle: false, target, outDir });
      return readFile(join(outDir, 'module.js'), 'utf8');
    };
    return (await write('old', browsers)) === (await write('new', 'esnext'));
  };

  it.each(['@plantstore/client/dist/index.js', 'neverthrow/dist/index.es.js'])(
    'suffices for %s',
    async (path) => {
      expect(await suffices(join(stranger.folder, 'node_modules', path))).toBe(true);
    },
  );

  it.each(['class { static {} }', '/(?<=a)b/'])('does not suffice for %s', async (code) => {
    const file = join(stranger.folder, 'newer-syntax.js');
    await writeFile(file, `export const value = ${code};`);
    expect(await suffices(file)).toBe(false);
  });
});

it('the README names the oldest promised browsers', async () => {
  const { chrome, firefox, safari } = promised;
  expect(await stranger.read('@plantstore/client/README.md')).toContain(
    `Chrome and Edge ${chrome}, Firefox ${firefox}, Safari ${safari}`,
  );
});

/** A few built-ins of each kind that must have been removed. */
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
