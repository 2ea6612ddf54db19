import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Test files, by the way in which they belong to a source. First those that load the fewest files. */
export type RelatedTests = {
  /** Those of the same package that load the source. */
  readonly own: readonly string[];
  /** Those of other folders that load the source, which start the program, for example. */
  readonly others: readonly string[];
  /** All of the same package, none outside `packages`. */
  readonly all: readonly string[];
};

// Other configurations run these.
const exclude = ['**/node_modules', 'tests/{packages,deploy,timing}'];

/** Returns the folder of a file that is a project of Vitest. */
const folderOf = (file: string): string => /^(?:packages\/)?[^/]+/.exec(file)?.[0] ?? file;

/** Returns arguments of Vitest that run test files. Named projects, since others need builds and servers. */
export const argumentsFor = (tests: readonly string[]): readonly string[] => [
  ...new Set(tests.map((test) => `--project=${folderOf(test)}`)),
  ...tests,
];

/** Returns a function that finds the tests of a file. Paths are relative to the root. */
export const findTests = (): ((file: string) => RelatedTests) => {
  const namedFiles = new Map<string, readonly string[]>();
  const loadedBy = new Map(
    globSync('{packages,tests,examples,bench}/**/*.test.ts', { cwd: root, exclude })
      .map((test) => [test, loadedFiles(test, namedFiles)] as const)
      .toSorted(([, one], [, other]) => one.size - other.size),
  );
  const tests = [...loadedBy.keys()];
  return (file) => {
    const isOwn = (test: string) => folderOf(test) === folderOf(file);
    const loading = tests.filter((test) => loadedBy.get(test)?.has(file));
    return {
      own: loading.filter(isOwn),
      others: loading.filter((test) => !isOwn(test)),
      all: file.startsWith('packages/') ? tests.filter(isOwn) : [],
    };
  };
};

/** Returns a file and the files that it loads: as modules, as workers, or as programs. */
function loadedFiles(test: string, namedFiles: Map<string, readonly string[]>): Set<string> {
  const loaded = new Set([test]);
  // A set is iterated with what is added meanwhile.
  for (const file of loaded) {
    const named = namedFiles.get(file) ?? filesNamedIn(file);
    namedFiles.set(file, named);
    for (const one of named) loaded.add(one);
  }
  return loaded;
}

// Docstrings and types.
const unloaded = /^ *\/\*\*[^]*?\*\/|^(?:import|export) type [^;]*;/gm;

/** Returns the files of the repository that a file names in quotes. */
function filesNamedIn(file: string): readonly string[] {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8').replaceAll(unloaded, '');
  const { resolve } = createRequire(path);
  const modules = [...text.matchAll(/(?:from|import) '(@plantstore\/[^']+)'/g)];
  const paths = [...text.matchAll(/'(\.{1,2}\/[^'\n]+)'/g)];
  return [
    ...modules.map(([, name = '']) => resolve(name)),
    ...paths.map(([, name = '']) => join(dirname(path), name)),
  ]
    .map((named) => named.replace(/\/dist\/(.+)\.js$/, '/src/$1.ts'))
    .filter((named) => /\.[cm]?[jt]s$/.test(named) && existsSync(named) && statSync(named).isFile())
    .map((named) => relative(root, named));
}
