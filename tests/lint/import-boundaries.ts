/**
 * What the files of a folder, or one file, may import, besides files of the same folder: modules, and other folders. `*` stands for any
 * name. A row imports only folders of later rows, so that no two folders import each other.
 */
export const boundaries: Readonly<Record<string, readonly string[]>> = {
  // The build copies `wire` into it. Any other import of core would be missing after an install.
  'client/src': ['neverthrow', '@plantstore/core/wire'],

  'server/src': [
    'server/src/program/main.ts',
    'server/src/program/serve',
    'server/src/fetch',
    'server/src/node',
    'server/src/http',
    'node:*',
  ],
  // It composes what the other files of its folder serve.
  'server/src/program/main.ts': [
    'server/src/program/serve',
    'server/src/program/commands',
    'server/src/program',
    'server/src/program/settings',
    'node:*',
  ],
  'server/src/program/serve': [
    'server/src/program',
    'server/src/program/settings',
    'server/src/node',
    'server/src/http',
    '@plantstore/core',
    '@plantstore/core/wire',
    'neverthrow',
    'node:*',
    'prom-client',
  ],
  'server/src/program/commands': [
    'server/src/program',
    'server/src/program/settings',
    '@plantstore/core',
    '@plantstore/core/errors',
    '@plantstore/core/wire',
    '@plantstore/sqlite',
    // Its build contains it.
    'csv-parse',
    'neverthrow',
    'node:*',
  ],
  'server/src/program': [
    'server/src/program/settings',
    'server/src/http',
    '@plantstore/core',
    '@plantstore/core/group-commit',
    '@plantstore/sqlite',
    '@plantstore/postgres',
    'neverthrow',
    'node:*',
  ],
  'server/src/program/settings': [
    'server/src/http',
    '@plantstore/core/wire',
    'neverthrow',
    'node:*',
  ],
  'server/src/fetch': ['server/src/http'],
  'server/src/node': [
    'server/src/http',
    '@plantstore/core/errors',
    '@plantstore/core/wire',
    'node:*',
  ],
  'server/src/http': [
    '@plantstore/core',
    '@plantstore/core/errors',
    '@plantstore/core/wire',
    // Only in client-address.ts, which the fetch handler does not use.
    'node:net',
    // Only in token-digest.ts, which it does not use either.
    'node:crypto',
  ],

  'sqlite/src': [
    '@plantstore/core',
    '@plantstore/core/errors',
    '@plantstore/core/group-commit',
    'neverthrow',
    'node:*',
  ],
  'postgres/src': [
    '@plantstore/core',
    '@plantstore/core/errors',
    '@plantstore/core/group-commit',
    'neverthrow',
    'node:*',
    'pg',
    'pg-connection-string',
    'pgpass',
  ],

  // The build has zod/mini in its place: zod itself would add 90 kB to a bundle.
  'core/src': ['neverthrow', 'zod'],
};

/** What tests may import, besides files of their package. */
export const testBoundary: readonly string[] = [
  '@plantstore/*',
  '@seriousme/openapi-schema-validator',
  'csv-parse/sync',
  'fast-check',
  'neverthrow',
  'node:*',
  'pg',
  'pino',
  'prom-client',
  'tsup',
  'vitest',
  'zod',
  'zod/mini',
];

/** What a module must not import at run time, even through other modules. */
export const unreachable: Readonly<Record<string, readonly string[]>> = {
  'client/src/index.ts': ['node:*', 'zod*'],
  'core/src/errors.ts': ['node:*', 'zod*'],
  'core/src/group-commit.ts': ['node:*', 'zod*'],
  'core/src/wire.ts': ['node:*', 'zod*'],
  // It runs on every runtime.
  'server/src/fetch.ts': ['node:*'],
  // Only the program opens a store.
  'server/src/index.ts': ['server/src/program/*', '@plantstore/sqlite', '@plantstore/postgres'],
};
