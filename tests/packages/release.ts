import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@plantstore/test-support/free-port';
import { installApp, installTools } from './installations.ts';
import { runIn, untilItResponds } from './run-in.ts';

/** Packages released to a registry on this machine, and what is installed once for all tests. */
export type Release = {
  /** URL of the registry; it passes requests for other packages on to npm's. */
  readonly registry: string;
  /** Path of the tarball of each package, by the name of its folder. */
  readonly tarballs: Readonly<Record<string, string>>;
  /** Clone that the packages were released from. */
  readonly clone: string;
  readonly version: string;
  /** Folder into which npm has installed every package. */
  readonly app: string;
  /** Folder into which npm has installed runtimes and compilers. */
  readonly tools: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    readonly release: Release;
  }
}

type Project = { readonly provide: (key: 'release', release: Release) => void };

const root = fileURLToPath(new URL('../../', import.meta.url));

const pnpmIn = async (folder: string, ...args: readonly string[]) =>
  runIn(folder, 'npx', ['-y', 'pnpm@12', ...args]);

/** Creates a clone with the uncommitted changes, and an owner instead of the placeholders. */
const prepareClone = async (clone: string): Promise<void> => {
  await runIn(root, 'git', ['clone', '-q', root, clone]);
  // An index of its own has the new files, too, and leaves that of the user as it is.
  const env = { GIT_INDEX_FILE: `${clone}.index` };
  await runIn(root, 'git', ['read-tree', 'HEAD'], { env });
  await runIn(root, 'git', ['add', '--all'], { env });
  const changes = await runIn(root, 'git', ['diff', '--cached', '--binary', 'HEAD'], { env });
  await writeFile(`${clone}.patch`, changes.stdout);
  await runIn(clone, 'git', ['apply', '--allow-empty', `${clone}.patch`]);
  for (const file of ['package.json', '.github/CODEOWNERS'].map((name) => join(clone, name))) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('OWNER', 'rehearsal'));
  }
  // A tag needs an author, who is not configured on every machine.
  await runIn(clone, 'git', ['config', 'user.name', 'rehearsal']);
  await runIn(clone, 'git', ['config', 'user.email', 'rehearsal@localhost']);
  await pnpmIn(clone, 'install', '--frozen-lockfile', '--prefer-offline');
  await pnpmIn(clone, 'exec', 'changeset', 'version');
};

const npmSetting = async (name: string): Promise<string> =>
  (await runIn(root, 'npm', ['config', 'get', name])).stdout.trim();

/** Starts Verdaccio, a registry, in a folder. */
const startRegistry = async (folder: string): Promise<{ url: string; process: ChildProcess }> => {
  await mkdir(folder);
  const write = async (file: string, value: unknown) =>
    writeFile(join(folder, file), JSON.stringify(value));
  await write('package.json', { private: true, dependencies: { verdaccio: '6.10.4' } });
  // Verdaccio depends on a dist-tag of node-fetch, which mirrors of npm's registry lack.
  await write('pnpm-workspace.yaml', { overrides: { 'node-fetch': '^2.7.0' } });
  await pnpmIn(folder, 'install', '--ignore-scripts', '--prefer-offline');
  await write('config.yaml', {
    storage: join(folder, 'storage'),
    uplinks: { upstream: { url: await npmSetting('registry') } },
    packages: {
      plantstore: { access: '$all', publish: '$all' },
      '@plantstore/*': { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'upstream' },
    },
    log: { type: 'stdout', level: 'fatal' },
  });
  const authority = `127.0.0.1:${await freePort()}`;
  const bin = join(folder, 'node_modules/verdaccio/bin/verdaccio');
  const options = ['--config', join(folder, 'config.yaml'), '--listen', authority];
  const certificates = await npmSetting('cafile');
  const registry = spawn(process.execPath, [bin, ...options], {
    cwd: folder,
    // Verdaccio trusts the same certificates as npm.
    env: {
      ...process.env,
      ...(certificates !== 'null' && { NODE_EXTRA_CA_CERTS: certificates }),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://${authority}/`;
  await untilItResponds(registry, url);
  return { url, process: registry };
};

/** Releases every package as `pnpm release` does, from a clone to a registry on this machine. */
export const setup = async (project: Project): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-release-'));
  const clone = join(folder, 'clone');
  const app = join(folder, 'app');
  const tools = join(folder, 'tools');
  const storage = join(folder, 'registry', 'storage');
  const [registry] = await Promise.all([
    startRegistry(join(folder, 'registry')),
    prepareClone(clone),
    installTools(tools),
  ]);
  const { url } = registry;
  const token = `//${new URL(url).host}/:_authToken=any`;
  await writeFile(join(clone, '.npmrc'), `registry=${url}\n${token}\n`);
  await pnpmIn(clone, 'release');
  const tarballs = Object.fromEntries(
    globSync('{plantstore,@plantstore/*}/*.tgz', { cwd: storage }).map((file) => [
      basename(dirname(file)),
      join(storage, file),
    ]),
  );
  const version = basename(tarballs['core'] ?? '').slice('core-'.length, -'.tgz'.length);
  await installApp(app, url);
  project.provide('release', { registry: url, tarballs, clone, version, app, tools });
  return async () => {
    const exited = once(registry.process, 'exit');
    registry.process.kill();
    await exited;
    await rm(folder, { recursive: true });
  };
};
