/** Code whose tests are measured together. */
type Area = {
  readonly folder: string;
  /** The mutated files. */
  readonly sources: readonly string[];
  /** Patterns of the test files, relative to the folder. */
  readonly tests: readonly string[];
};

const areas: Readonly<Record<string, Area>> = {
  core: {
    folder: 'packages/core',
    sources: [
      'packages/core/src/*.ts',
      // Tests for authors of a store.
      '!packages/core/src/{contract-plants,repository-contract}.ts',
    ],
    tests: ['src/*.test.ts'],
  },
  client: {
    folder: 'packages/client',
    sources: ['packages/client/src/*.ts'],
    tests: ['src/*.test.ts'],
  },
  http: {
    folder: 'packages/server',
    sources: ['packages/server/src/{http,fetch}/*.ts'],
    tests: ['src/{http,fetch}/*.test.ts'],
  },
};

/** Returns the area that the environment variable AREA names. */
export const area = (): Area => {
  const named = areas[process.env['AREA'] ?? ''];
  if (named === undefined) throw new Error(`set AREA to one of ${Object.keys(areas).join(', ')}`);
  return named;
};
