// Releases every package from a clone to a registry on this machine, and uses what was released.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

const root = join(import.meta.dirname, '..');
const temporary = mkdtempSync(join(tmpdir(), 'plantstore-rehearsal-'));
const pnpm = ['npx', '-y', 'pnpm@12'];
// The Node that runs this script also runs what it starts.
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
const started = [];

const fail = (message) => {
  throw new Error(message);
};

const newFolder = (name) => {
  mkdirSync(join(temporary, name));
  return join(temporary, name);
};
const writeJson = (file, value) => writeFileSync(file, JSON.stringify(value));

/** Runs a command to its end and returns its standard output. */
const run = async (cwd, [command, ...args], { env = {}, input } = {}) => {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (status !== 0) fail(`${[command, ...args].join(' ')}\n${stdout}${stderr}`);
  return stdout;
};

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
};

/** Starts a program that is ended with the script. */
const start = (cwd, [command, ...args], env = {}) => {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  started.push(child);
  return child;
};

const untilItResponds = async (url) => {
  for (let attempts = 0; attempts < 300; attempts += 1) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await setTimeout(100);
  }
  fail(`${url} did not respond in 30 s.`);
};

/** A clone with the uncommitted changes, and an owner in the place of the placeholders. */
const prepareClone = async () => {
  const clone = join(temporary, 'clone');
  await run(root, ['git', 'clone', '-q', root, clone]);
  const input = await run(root, ['git', 'diff', '--binary', 'HEAD']);
  await run(clone, ['git', 'apply', '--allow-empty'], { input });
  for (const file of ['package.json', '.github/CODEOWNERS']) {
    const written = readFileSync(join(clone, file), 'utf8');
    writeFileSync(join(clone, file), written.replaceAll('OWNER', 'rehearsal'));
  }
  // A tag has an author, whom git does not know on every machine.
  await run(clone, ['git', 'config', 'user.name', 'rehearsal']);
  await run(clone, ['git', 'config', 'user.email', 'rehearsal@localhost']);
  await run(clone, [...pnpm, 'install', '--frozen-lockfile', '--prefer-offline']);
  await run(clone, [...pnpm, 'exec', 'changeset', 'version']);
  return clone;
};

const npmSetting = async (name) => (await run(temporary, ['npm', 'config', 'get', name])).trim();

const startRegistry = async () => {
  const folder = newFolder('registry');
  writeJson(join(folder, 'package.json'), { private: true, dependencies: { verdaccio: '6.10.4' } });
  // Verdaccio asks for a dist-tag of node-fetch, which mirrors of the registry lack.
  writeJson(join(folder, 'pnpm-workspace.yaml'), { overrides: { 'node-fetch': '^2.7.0' } });
  await run(folder, [...pnpm, 'install', '--ignore-scripts', '--prefer-offline']);
  const upstream = await npmSetting('registry');
  const certificates = await npmSetting('cafile');
  // JSON is YAML.
  writeJson(join(folder, 'config.yaml'), {
    storage: join(folder, 'storage'),
    uplinks: { upstream: { url: upstream } },
    packages: {
      '@plantstore/*': { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'upstream' },
    },
    log: { type: 'stdout', level: 'fatal' },
  });
  const port = await freePort();
  const bin = join(folder, 'node_modules/verdaccio/bin/verdaccio');
  const listen = ['--config', join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
  // Verdaccio trusts the same certificates as npm.
  const env = certificates === 'null' ? {} : { NODE_EXTRA_CA_CERTS: certificates };
  start(folder, [process.execPath, bin, ...listen], env);
  await untilItResponds(`http://127.0.0.1:${port}/-/ping`);
  return {
    port,
    settings: `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=any\n`,
  };
};

const checkBuilds = (clone) => {
  const files = globSync('packages/*/dist/**/*', { cwd: clone, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(clone.length + 1));
  const differing = files.filter(
    (file) => !readFileSync(join(root, file)).equals(readFileSync(join(clone, file))),
  );
  if (files.length === 0 || differing.length > 0) {
    fail(`The builds of two folders differ in: ${differing.join(', ') || 'all files'}.`);
  }
};

const packages = ['core', 'sqlite', 'postgres', 'server', 'client'];
const manifest = {
  private: true,
  type: 'module',
  dependencies: Object.fromEntries(packages.map((name) => [`@plantstore/${name}`, 'latest'])),
};

/** How each package manager installs the packages, and runs a program that can import them. */
const installers = (port) => ({
  npm: {
    files: {},
    install: ['npm', 'install', '--no-audit', '--no-fund'],
    node: [process.execPath],
    bin: ['node_modules/.bin/plantstore-server'],
  },
  'pnpm without hoisting': {
    files: {
      'pnpm-workspace.yaml': { hoist: false, publicHoistPattern: [], minimumReleaseAge: 0 },
    },
    install: [...pnpm, 'install'],
    node: [process.execPath],
    bin: ['node_modules/.bin/plantstore-server'],
  },
  "Yarn's Plug'n'Play": {
    files: {
      'yarn.lock': '',
      '.yarnrc.yml': {
        nodeLinker: 'pnp',
        globalFolder: join(temporary, 'yarn'),
        npmRegistryServer: `http://127.0.0.1:${port}`,
        unsafeHttpWhitelist: ['127.0.0.1'],
        enableTelemetry: false,
        enableImmutableInstalls: false,
        npmMinimalAgeGate: 0,
      },
    },
    install: ['npx', '-y', '--package=@yarnpkg/cli-dist@4', 'yarn', 'install'],
    node: [process.execPath],
    // As `yarn node` sets it, which does not pass a signal on.
    env: (folder) => ({
      NODE_OPTIONS: `--require ${folder}/.pnp.cjs --experimental-loader file://${folder}/.pnp.loader.mjs`,
    }),
    bin: ['npx', '-y', '--package=@yarnpkg/cli-dist@4', 'yarn', 'plantstore-server'],
  },
});

/** Installs the packages as a user, and runs the program and the examples of the README. */
const use = async (name, { files, install, node, bin, env = () => ({}) }, settings, version) => {
  const folder = newFolder(name.replaceAll(/\W/g, '-'));
  writeJson(join(folder, 'package.json'), manifest);
  writeFileSync(join(folder, '.npmrc'), settings);
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(folder, file), content === '' ? '' : JSON.stringify(content));
  }
  for (const example of ['core', 'server', 'client']) {
    cpSync(join(root, `examples/first-${example}.ts`), join(folder, `first-${example}.ts`));
  }
  await run(folder, install);
  const check = async (command, expected, more) => {
    const printed = (await run(folder, command, { env: more })).trim();
    if (printed !== expected) fail(`${name}: ${command.join(' ')} printed ${printed}`);
  };
  await check([...bin, '--version'], version);
  await check([...node, 'first-core.ts'], 'created Monstera', env(folder));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  start(folder, [...node, 'first-server.ts'], {
    ...env(folder),
    PORT: port,
    PLANT_TOKEN: 'example',
  });
  await untilItResponds(url);
  const client = { ...env(folder), PLANTSTORE_URL: url, PLANTSTORE_TOKEN: 'example' };
  await check([...node, 'first-client.ts'], 'created Monstera', client);
};

const begun = performance.now();
const report = (line) => {
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  process.stdout.write(`${seconds.padStart(5)} s  ${line}\n`);
};

try {
  const [clone, { port, settings }] = await Promise.all([
    prepareClone(),
    startRegistry(),
    run(root, [process.execPath, 'scripts/build.mjs']),
  ]);
  report('prepared a clone and a registry');
  const { version } = JSON.parse(readFileSync(join(clone, 'packages/core/package.json'), 'utf8'));
  writeFileSync(join(clone, '.npmrc'), settings);
  await run(clone, [...pnpm, 'release']);
  // The release workflow knows by this tag that a version is published.
  const tag = `@plantstore/core@${version}`;
  if ((await run(clone, ['git', 'tag', '--list', tag])) === '') fail(`There is no tag ${tag}.`);
  report(`published ${version}`);
  checkBuilds(clone);
  report('two builds in two folders have the same bytes');
  await Promise.all(
    Object.entries(installers(port)).map(async ([name, installer]) => {
      await use(name, installer, settings, version);
      report(`used through ${name}`);
    }),
  );
} finally {
  for (const child of started) child.kill();
  await Promise.all(
    started.map(async (child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
  );
  rmSync(temporary, { recursive: true, force: true });
}
