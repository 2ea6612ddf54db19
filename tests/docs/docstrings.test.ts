import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
// Below tests, so that their dependencies resolve; below node_modules, so that other tools ignore it.
const cache = join(root, 'tests/node_modules/.cache');

type Example = { file: string; line: number; code: string };

const docstring = /^ *\/\*\*.*?\*\/$/gms;
const exampleBlock = /^( *\* ?)```ts\n(.*?)^ *\* ?```$/gms;

const linesBefore = (text: string, index: number): number =>
  text.slice(0, index).split('\n').length;

/** Returns every TypeScript block of an `@example`. */
const examplesOf = (file: string): Example[] => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(docstring)].flatMap(({ 0: comment, index: start }) =>
    [...comment.matchAll(exampleBlock)]
      .filter(({ index }) => comment.slice(0, index).includes('@example'))
      .map(({ index, 2: body = '' }) => ({
        file,
        line: linesBefore(text, start + index) + 1,
        code: body.replaceAll(/^ *\* ?/gm, ''),
      })),
  );
};

/** Compiles the examples together, and returns the errors of tsc with the positions of the docstrings. */
const compile = (examples: readonly Example[]): string[] => {
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'docstrings-'));
  const places = new Map<string, string>();
  for (const [index, { file, line, code }] of examples.entries()) {
    const name = `example-${index}.ts`;
    places.set(name, file);
    // Padded to the line of the docstring, so that tsc reports its line numbers.
    writeFileSync(join(scratch, name), '\n'.repeat(line - 1) + code);
  }
  const tsconfig = {
    extends: relative(scratch, join(root, 'tsconfig.json')),
    compilerOptions: { noUnusedLocals: false, paths: sources(), rootDir: root, types: ['node'] },
    files: [...places.keys()],
    include: [],
  };
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(tsconfig));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: scratch,
    encoding: 'utf8',
  });
  rmSync(scratch, { recursive: true });
  const errors = stdout
    .trimEnd()
    .replaceAll(
      /^.*?(example-\d+\.ts)\((\d+),\d+\)/gm,
      (_, name: string, line: string) => `${places.get(name)}:${line}`,
    );
  return status === 0 ? [] : errors.split('\n');
};

type Manifest = { name: string; exports?: Record<string, { '@plantstore/source'?: string }> };

/** Returns the source of each export of the packages. */
const sources = (): Record<string, [string]> => {
  const paths: Record<string, [string]> = {};
  for (const file of globSync(join(root, 'packages/*/package.json'))) {
    const { name, exports = {} } = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    for (const [subpath, { '@plantstore/source': source }] of Object.entries(exports)) {
      if (source !== undefined) paths[posix.join(name, subpath)] = [join(dirname(file), source)];
    }
  }
  return paths;
};

const files = globSync('packages/*/src/**/*.ts', { cwd: root }).toSorted();
const examples = files.flatMap(examplesOf);

it('every example in the docstrings is found', () => {
  const marks = files.flatMap(
    (file) => readFileSync(join(root, file), 'utf8').match(/^ *\* @example\b/gm) ?? [],
  );
  expect(examples.length).toBeGreaterThanOrEqual(marks.length);
  expect(marks.length).toBeGreaterThan(0);
});

it('every example in the docstrings compiles, and one that does not is reported with its position', () => {
  const wrong = { file: 'packages/core/src/x.ts', line: 7, code: "\nconst id: number = '7';\n" };
  expect(compile([...examples, wrong])).toEqual([
    expect.stringMatching(/^packages\/core\/src\/x\.ts:8: error TS2322: /),
  ]);
});
