// Builds the server with all stores as one executable, which contains the Node that runs this script.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';

process.chdir(join(import.meta.dirname, '..'));
rmSync('dist', { recursive: true, force: true });
mkdirSync('dist/build', { recursive: true });

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Bundles a module with all that it imports. The modules of `replaced` get another text. */
const bundle = async (path, replaced = {}) => {
  await build({
    config: false,
    silent: true,
    entry: { bundle: path },
    outDir: 'dist/build',
    format: ['esm'],
    outExtension: () => ({ js: '.mjs' }),
    target: 'node26',
    noExternal: [/./],
    splitting: false,
    metafile: true,
    // Without its prefix, node:sqlite does not exist.
    removeNodeProtocol: false,
    // Packages in CommonJS require built-in modules.
    banner: { js: 'const require = process.getBuiltinModule;' },
    esbuildOptions: (esbuild) => {
      esbuild.conditions = ['@plantstore/source'];
    },
    esbuildPlugins: Object.entries(replaced).map(([name, contents]) => ({
      name,
      setup: (esbuild) =>
        esbuild.onLoad({ filter: new RegExp(`/src/${name}$`) }, () => ({ contents })),
    })),
  });
  const text = readFileSync('dist/build/bundle.mjs', 'utf8');
  // In an executable of Node 26 it is empty after a garbage collection.
  if (text.includes('import.meta')) throw new Error(`the bundle of ${path} uses import.meta`);
  return text;
};

/** Returns the program of a worker thread as a URL. Its last line is its name in stack traces. */
const workerUrl = async (name) => {
  const text = await bundle(`packages/sqlite/src/${name}-worker.ts`);
  return `data:text/javascript,${encodeURIComponent(`${text}//# sourceURL=${name}-worker.js\n`)}`;
};
const workers = { commit: await workerUrl('commit'), backup: await workerUrl('backup') };
const { version } = readJson('packages/server/package.json');

// These look for files beside them, which an executable does not have.
await bundle('packages/server/src/bin.ts', {
  'program/version.ts': `export const version = () => '${version}';`,
  'program/is-installed.ts': 'export const isInstalled = () => true, missingPackage = String;',
  'worker-file.ts': `export const workerFile = (name) => new URL(${JSON.stringify(workers)}[name]);`,
});

const { platform, arch, execPath } = process;
const { inputs } = readJson('dist/build/metafile-esm.json');
const packages = Object.keys(inputs).flatMap(
  (path) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
);
const licenceOf = (folder) => {
  const manifest = readJson(`${folder}/package.json`);
  // Two packages have it only in their readme.
  const file = globSync(`${folder}/{LICENSE,license}*`)[0] ?? `${folder}/README.md`;
  return `=== ${manifest.name} ${manifest.version}\n\n${readFileSync(file, 'utf8')}\n`;
};
const node = join(execPath, `../../node_modules/node-${platform}-${arch}`);
writeFileSync('dist/licences.txt', ['.', ...new Set(packages), node].map(licenceOf).join(''));

const settings = {
  main: 'bundle.mjs',
  mainFormat: 'module',
  output: '../plantstore-server',
  disableExperimentalSEAWarning: true,
};
writeFileSync('dist/build/settings.json', JSON.stringify(settings));
execFileSync(execPath, ['--build-sea', 'settings.json'], { cwd: 'dist/build', stdio: 'inherit' });
rmSync('dist/build', { recursive: true });
