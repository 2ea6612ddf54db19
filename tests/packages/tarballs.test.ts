import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { newFolder } from '../black-box/program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { tarballs, clone, version } = inject('release');
const folder = await newFolder(afterAll);
const names = Object.keys(tarballs).toSorted();
for (const name of names) {
  execFileSync('tar', ['-xzf', tarballs[name] ?? '', '-C', folder]);
  execFileSync('mv', [join(folder, 'package'), join(folder, name)]);
}

type Manifest = {
  readonly name: string;
  readonly dependencies?: object;
  readonly peerDependencies?: object;
};

/** Files of a package other than its manifest, README, licence and code. */
const additionalFiles: Readonly<Record<string, readonly string[]>> = {
  // The builds contain a part of zod, csv-parse, and neverthrow in the workers.
  core: ['dist/zod-licence.txt', 'openapi.json'],
  plantstore: ['dist/csv-parse-licence.txt'],
  sqlite: ['dist/neverthrow-licence.txt'],
};

const read = (name: string, file: string) => readFileSync(join(folder, name, file), 'utf8');

const filesOf = (name: string) =>
  readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, name).length + 1))
    .toSorted();

/** Returns what the code of a file imports. Comments are removed, because they contain examples. */
const importsOf = (name: string, file: string): string[] =>
  [
    ...read(name, file)
      .replaceAll(/^\s*(\*|\/[*/]).*$/gm, '')
      .matchAll(/(?:\bfrom |\bimport |\bimport\()['"]([^'"]+)['"]/g),
  ].map(([, specifier = '']) => specifier);

it('the release has every package, and a tag', () => {
  expect(names).toEqual(readdirSync(join(root, 'packages')).toSorted());
  // The release workflow recognizes a published version by this tag.
  const tag = `@plantstore/core@${version}`;
  expect(execFileSync('git', ['tag', '--list', tag], { cwd: clone, encoding: 'utf8' })).toBe(
    `${tag}\n`,
  );
});

it('the build writes the same bytes in two folders', () => {
  const files = globSync('packages/*/dist/**/*.*', { cwd: clone });
  expect(files).not.toEqual([]);
  const isSame = (file: string) =>
    readFileSync(join(root, file)).equals(readFileSync(join(clone, file)));
  expect(files.filter((file) => !isSame(file))).toEqual([]);
});

describe.each(names)('the packed %s', (name) => {
  it(`the packed ${name} contains its manifest, README, licence and code, and no other file`, () => {
    const code = /^dist\/.+\.(m?js|d\.ts)$/;
    const ofTests = /(^|\/)(tests?|test-support)\/|\.test(-d)?\./;
    expect(filesOf(name).filter((file) => !code.test(file) || ofTests.test(file))).toEqual(
      ['LICENSE', 'README.md', 'package.json', ...(additionalFiles[name] ?? [])].toSorted(),
    );
  });

  it(`the packed ${name} imports only packages that its manifest declares`, () => {
    const manifest = JSON.parse(read(name, 'package.json')) as Manifest;
    const { dependencies, peerDependencies } = manifest;
    const declared = [manifest.name, ...Object.keys({ ...dependencies, ...peerDependencies })];
    const undeclared = filesOf(name)
      .filter((file) => /\.(m?js|d\.ts)$/.test(file))
      .flatMap((file) => importsOf(name, file))
      .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier))
      .filter((specifier) => !declared.some((one) => `${specifier}/`.startsWith(`${one}/`)));
    expect(undeclared).toEqual([]);
  });

  it(`the packed ${name} has a manifest with its author and repository, and without workspace references`, () => {
    expect(read(name, 'package.json')).not.toMatch(/@plantstore\/source|workspace:/);
    expect(JSON.parse(read(name, 'package.json'))).toMatchObject({
      author: expect.any(String) as unknown,
      homepage: expect.any(String) as unknown,
      bugs: expect.any(String) as unknown,
      repository: { type: 'git', directory: `packages/${name}` },
    });
  });

  it(`the packed ${name} has no problems according to publint`, async () => {
    const pkgDir = join(folder, name);
    const { messages, pkg } = await publint({ pkgDir, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });
});

it('the packed core imports zod only for its schemas', () => {
  const importing = filesOf('core').filter(
    (file) => file.endsWith('.js') && importsOf('core', file).some((one) => /^zod\b/.test(one)),
  );
  expect(importing).toEqual(['dist/schemas.js']);
});

it('the packed sqlite has a worker that imports modules of Node only', () => {
  const workers = filesOf('sqlite').filter((file) => file.endsWith('.mjs'));
  expect(workers).toHaveLength(1);
  const imports = workers.flatMap((file) => importsOf('sqlite', file));
  expect(imports.filter((one) => !isBuiltin(one))).toEqual([]);
});

it('the packed plantstore contains the CSV parser in one module, which is imported dynamically', () => {
  const modules = filesOf('plantstore').filter((file) => file.endsWith('.js'));
  const has = (text: string) => modules.filter((file) => read('plantstore', file).includes(text));
  const parsers = has('CSV_QUOTE_NOT_CLOSED');
  expect(parsers).toEqual([expect.stringMatching(/^dist\/csv-\w+\.js$/)]);
  const path = parsers.map((file) => file.replace('dist', '.')).join();
  expect(has(`"${path}"`)).toEqual(has(`await import("${path}")`));
});
