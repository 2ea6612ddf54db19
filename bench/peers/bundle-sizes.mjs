// The size of each client in a browser bundle, with its dependencies.
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ours = new URL('../../packages/client/dist/index.js', import.meta.url).pathname;

const imports = {
  ours: `export { createClient } from ${JSON.stringify(ours)};`,
  ky: "export { default } from 'ky';",
  ofetch: "export { ofetch } from 'ofetch';",
  'openapi-fetch': "export { default } from 'openapi-fetch';",
};

/** Bundles and minifies each client, and returns its gzipped bytes. */
export const bundleSizes = async () => {
  const sizes = {};
  for (const [name, contents] of Object.entries(imports)) {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
    });
    sizes[name] = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  }
  return sizes;
};
