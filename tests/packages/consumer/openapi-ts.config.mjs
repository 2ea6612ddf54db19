import { join } from 'node:path';

/** The settings of docs/client-recipes.md: an id is a bigint. */
export default {
  input: join(import.meta.dirname, 'node_modules/@plantstore/core/openapi.json'),
  output: { path: join(import.meta.dirname, 'generated'), module: { extension: '.js' } },
  plugins: [
    '@hey-api/client-fetch',
    { name: '@hey-api/transformers', bigInt: true },
    { name: '@hey-api/sdk', transformer: true },
  ],
};
