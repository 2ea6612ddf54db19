import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'tsup';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const compared = fileOf('../compare');

/** What an application writes to have each client. */
const imports = {
  ours: `export { createClient } from ${JSON.stringify(fileOf('../../packages/client/dist/index.js'))};`,
  ky: "export { default } from 'ky';",
  ofetch: "export { ofetch } from 'ofetch';",
  'openapi-fetch': "export { default } from 'openapi-fetch';",
} as const;

/** The gzipped bytes of each client, bundled for a browser and minified, all that it brings included. */
export const bundleSizes = async (): Promise<Readonly<Record<string, number>>> => {
  // Below the compared libraries, so that they are found.
  const folder = await mkdtemp(join(compared, 'node_modules/.bundles-'));
  try {
    const sizes: Record<string, number> = {};
    for (const [name, source] of Object.entries(imports)) {
      const entry = join(folder, `${name}.js`);
      await writeFile(entry, source);
      await build({
        config: false,
        silent: true,
        entry: [entry],
        format: ['esm'],
        platform: 'browser',
        target: 'es2022',
        noExternal: [/./],
        treeshake: true,
        minify: true,
        outDir: join(folder, 'out'),
      });
      sizes[name] = gzipSync(await readFile(join(folder, 'out', `${name}.js`)), {
        level: 9,
      }).length;
    }
    return sizes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
