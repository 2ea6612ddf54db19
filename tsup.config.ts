import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'tsup';

type Manifest = {
  exports: Record<string, string | { '@plantstore/source': string }>;
  bin?: Record<string, string>;
};

/** The entry points of a package are what its manifest exports, its bin, and its threads' programs. */
const entriesOf = (packageName: string): string[] => {
  const manifest = JSON.parse(
    readFileSync(`packages/${packageName}/package.json`, 'utf8'),
  ) as Manifest;
  const exported = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target['@plantstore/source']],
  );
  const bins = Object.values(manifest.bin ?? {}).map((path) =>
    path.replace('dist', 'src').replace('.js', '.ts'),
  );
  const workers = readdirSync(`packages/${packageName}/src`)
    .filter((name) => name.endsWith('-worker.ts'))
    .map((name) => `./src/${name}`);
  return [...exported, ...bins, ...workers].map(
    (path) => `packages/${packageName}/${path.slice(2)}`,
  );
};

export default defineConfig(
  ['core', 'sqlite', 'postgres', 'server', 'client'].map((packageName) => ({
    name: packageName,
    entry: entriesOf(packageName),
    outDir: `packages/${packageName}/dist`,
    format: ['esm'],
    target: 'node22',
    platform: packageName === 'core' || packageName === 'client' ? 'neutral' : 'node',
    clean: true,
    // tsup's declarations need the compiler API that TypeScript 7 has not; tsc makes them.
    dts: false,
    // Without its prefix, node:sqlite does not exist.
    removeNodeProtocol: false,
    skipNodeModulesBundle: true,
    external: [/^@plantstore\//],
    silent: true,
  })),
);
