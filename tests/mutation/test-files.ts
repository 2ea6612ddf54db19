import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** The source file of a specifier in a file, from the root. */
const resolve = (file: string, specifier: string): string => {
  const [, name, subpath = 'index'] = /^@plantstore\/(\w+)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name !== undefined) return `packages/${name}/src/${subpath}.ts`;
  // Black-box tests start the built program.
  return join(file, '..', specifier).replace(/\/dist\/(.*)\.js$/, '/src/$1.ts');
};

/** The files that a file imports or starts: each text that is the path of a file, but for imports of types. */
const importedBy = (file: string, text: string): readonly string[] =>
  [
    ...text
      .replaceAll(/^import type [^;]*;/gm, '')
      .matchAll(/'(@plantstore\/[^']+|[^'\n]+\.[jt]s)'/g),
  ].map(([, specifier = '']) => resolve(file, specifier));

/** The importers of each file. */
const readImporters = (): ReadonlyMap<string, readonly string[]> => {
  const importers = new Map<string, string[]>();
  for (const file of globSync(['packages/*/{src,test}/**/*.ts', 'tests/black-box/*.ts'], {
    cwd: root,
  }))
    for (const imported of importedBy(file, readFileSync(join(root, file), 'utf8')))
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
  return importers;
};

/** The words of a path below the folder of a package or of tests. */
const wordsOf = (file: string): readonly string[] =>
  file
    .replace(/\.(test\.)?ts$/, '')
    .split(/\W/)
    .slice(3);

/** Test files that are equally near to a source file. */
export type Group = readonly string[];

/**
 * Returns a function for the test files of a source file, the nearest first: those that import it, those that import
 * one of its importers, and so on; then the others of its package. Those whose name has a word of the file are nearer.
 * A black-box test imports the program.
 */
export const findTestFiles = (): ((file: string) => readonly Group[]) => {
  const importers = readImporters();
  return (file) => {
    const [folder = ''] = /^packages\/\w+\//.exec(file) ?? [];
    const folders = folder === 'packages/server/' ? [folder, 'tests/'] : [folder];
    const found = new Set([file]);
    const groups: Group[] = [];
    for (let level: Group = [file]; level.length > 0;) {
      level = [...new Set(level.flatMap((one) => importers.get(one) ?? []))].filter(
        (one) => !found.has(one),
      );
      for (const one of level) found.add(one);
      groups.push(level);
    }
    const others = globSync(`${folder}src/**/*.test.ts`, { cwd: root });
    const isTest = (one: string): boolean =>
      one.endsWith('.test.ts') && folders.some((start) => one.startsWith(start));
    const words = wordsOf(file);
    const isNamedAlike = (one: string): boolean =>
      wordsOf(one).some((word) => words.includes(word));
    return [...groups, others.filter((one) => !found.has(one))]
      .map((group) => group.filter(isTest))
      .flatMap((group) => [group.filter(isNamedAlike), group.filter((one) => !isNamedAlike(one))])
      .filter(({ length }) => length > 0);
  };
};
