// Builds every package into its dist; with --if-stale only where the last build no longer fits.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const stamp = join(root, 'node_modules/.cache/plantstore/build.json');

const filesIn = (folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

const packages = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}`)
  .filter((folder) => existsSync(join(root, folder, 'package.json')));

const hashOfInputs = () => {
  const sources = packages
    .flatMap((folder) => filesIn(`${folder}/src`))
    .filter((file) => !/\.test(-d)?\.ts$/.test(file));
  const settings = [
    ...packages.flatMap((folder) => [`${folder}/package.json`, `${folder}/tsconfig.build.json`]),
    'tsup.config.ts',
    'tsconfig.base.json',
    'tsconfig.build.json',
    'pnpm-lock.yaml',
  ].map((file) => join(root, file));
  const hash = createHash('sha256');
  for (const file of [...sources, ...settings].toSorted()) {
    const content = readFileSync(file);
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
};

const isFresh = () => {
  if (!existsSync(stamp)) return false;
  const { inputs, outputs } = JSON.parse(readFileSync(stamp, 'utf8'));
  return outputs.every((file) => existsSync(file)) && inputs === hashOfInputs();
};

/** Gives what the tool printed if it failed. */
const failureOf = (tool, ...args) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', tool), ...args],
    { cwd: root, encoding: 'utf8' },
  );
  return status === 0 ? undefined : `${stdout}${stderr}`.replaceAll(/^ +at .*\n/gm, '');
};

/** Makes of what tsc wrote what is published. */
const finishDeclarations = () => {
  for (const file of packages.flatMap((folder) => filesIn(`${folder}/dist`))) {
    if (file.endsWith('.tsbuildinfo')) rmSync(file);
    if (!file.endsWith('.d.ts')) continue;
    // tsc leaves `./x.ts`, which is not there; only TypeScript would look for x.d.ts instead.
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll(/((?:from|import) |import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2'),
    );
  }
};

/** Copies the licences of the packages whose code is in the host's bundle. */
const copyLicences = () => {
  for (const name of ['neverthrow', 'zod']) {
    copyFileSync(
      join(root, `packages/core/node_modules/${name}/LICENSE`),
      join(root, `packages/server/dist/${name}-licence.txt`),
    );
  }
};

const build = () => {
  // What is left of an earlier build would make tsc believe that there is nothing to do.
  for (const folder of packages)
    rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  rmSync(stamp, { force: true });
  const inputs = hashOfInputs();
  const failure =
    failureOf('tsup/dist/cli-default.js') ??
    failureOf('typescript/bin/tsc', '-b', 'tsconfig.build.json');
  if (failure !== undefined) return failure;
  finishDeclarations();
  copyLicences();
  const outputs = packages.flatMap((folder) => filesIn(`${folder}/dist`));
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, JSON.stringify({ inputs, outputs }));
  return undefined;
};

const lock = `${stamp}.lock`;

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Takes the lock, as two that build at a time remove what the other makes; one left by the dead does not count. */
const takeLock = () => {
  mkdirSync(dirname(lock), { recursive: true });
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const owner = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0;
    // One that has no number yet is being written.
    if (owner > 0 && !isAlive(owner)) rmSync(lock, { force: true });
    return false;
  }
};

const buildIfWanted = () => {
  if (process.argv.includes('--if-stale') && isFresh()) return;
  // Not on standard output, which belongs to the program that may be started next.
  process.stderr.write('Building the packages.\n');
  const failure = build();
  if (failure !== undefined) {
    process.stderr.write(`The build failed:\n${failure}`);
    process.exitCode = 1;
  }
};

while (!takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
try {
  buildIfWanted();
} finally {
  rmSync(lock, { force: true });
}
