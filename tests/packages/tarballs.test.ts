import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const importPattern = /(?:\bfrom |\bimport |\bimport\()['"]([^'"]+)['"]/g;

type Manifest = {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
};

/** Files of a package other than its manifest, README, licence and code. */
const additionalFiles: Readonly<Record<string, readonly string[]>> = {
  // The builds contain a part of zod, csv-parse, and neverthrow in the workers.
  core: ['dist/zod-licence.txt', 'openapi.json'],
  plantstore: ['dist/csv-parse-licence.txt'],
  sqlite: ['dist/neverthrow-licence.txt'],
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const { tarballs, clone, version, tools } = inject('release');
const attw = join(tools, 'node_modules/.bin/attw');

it('the release contains every package', () => {
  const packages = readdirSync(join(root, 'packages'));
  expect(Object.keys(tarballs).toSorted()).toEqual(packages.toSorted());
});

it('the release has a tag', () => {
  // The release workflow recognizes a published version by this tag.
  const tag = `@plantstore/core@${version}`;
  expect(execFileSync('git', ['tag', '--list', tag], { cwd: clone, encoding: 'utf8' })).toBe(
    `${tag}\n`,
  );
});

it('the build writes the same bytes in two folders', () => {
  const files = globSync('packages/*/dist/**/*.*', { cwd: clone });
  expect(files).not.toEqual([]);
  const differing = files.filter(
    (file) => !readFileSync(join(root, file)).equals(readFileSync(join(clone, file))),
  );
  expect(differing).toEqual([]);
});

describe.each(
  Object.entries(tarballs).map(([name, tarball]) => ({ name, tarball })),
  // attw is a process for each package.
)('the packed $name', { timeout: 300_000 }, ({ name, tarball }) => {
  let folder = '';
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'plantstore-unpacked-'));
    execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .toSorted();

  it(`the packed ${name} contains its manifest, README, licence and code, and no other file`, () => {
    const code = /^dist\/.+\.(m?js|d\.ts)$/;
    const ofTests = /(^|\/)(tests?|test-support)\/|\.test(-d)?\./;
    expect(files().filter((file) => !code.test(file) || ofTests.test(file))).toEqual(
      ['LICENSE', 'README.md', 'package.json', ...(additionalFiles[name] ?? [])].toSorted(),
    );
  });

  it(`the packed ${name} imports only packages that its manifest declares`, () => {
    const manifest = JSON.parse(read('package.json')) as Manifest;
    const { dependencies, peerDependencies } = manifest;
    const declared = Object.keys({ [manifest.name]: '', ...dependencies, ...peerDependencies });
    const undeclared = files()
      .filter((file) => /\.(m?js|d\.ts)$/.test(file))
      // Comments are removed, because they contain examples.
      .map((file) => read(file).replaceAll(/^\s*(\*|\/[*/]).*$/gm, ''))
      .flatMap((code) => [...code.matchAll(importPattern)].map(([, specifier = '']) => specifier))
      .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier))
      .filter((specifier) => !declared.some((one) => `${specifier}/`.startsWith(`${one}/`)));
    expect(undeclared).toEqual([]);
  });

  if (name === 'core')
    it(`the packed ${name} imports zod only for its schemas`, () => {
      const code = files().filter((file) => file.endsWith('.js'));
      const importing = code.filter((file) => /(from|import) ?['"]zod/.test(read(file)));
      expect(importing).toEqual(['dist/schemas.js']);
    });

  if (name === 'sqlite')
    it(`the packed ${name} has workers that import modules of Node only`, () => {
      const imports = files()
        .filter((file) => file.endsWith('.mjs'))
        .map((file) =>
          [...read(file).matchAll(importPattern)].filter(([, of = '']) => !isBuiltin(of)),
        );
      expect(imports).toEqual([[]]);
    });

  if (name === 'plantstore')
    it(`the packed ${name} contains the CSV parser in one module, which is imported dynamically`, () => {
      const modules = files().filter((file) => file.endsWith('.js'));
      const parsers = modules.filter((file) => read(file).includes('CSV_QUOTE_NOT_CLOSED'));
      expect(parsers).toEqual([expect.stringMatching(/^dist\/csv-\w+\.js$/)]);
      const path = parsers.map((file) => file.replace('dist', '.')).join();
      const imports = modules.flatMap((file) =>
        read(file)
          .split('\n')
          .filter((line) => line.includes(`"${path}"`)),
      );
      expect(imports).toEqual([expect.stringContaining(`await import("${path}")`)]);
    });

  it(`the packed ${name} has a manifest without workspace references`, () => {
    expect(read('package.json')).not.toMatch(/@plantstore\/source|workspace:/);
  });

  it(`the packed ${name} names the author and the repository`, () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({
      author: expect.any(String) as unknown,
      homepage: expect.any(String) as unknown,
      bugs: expect.any(String) as unknown,
      repository: { type: 'git', directory: `packages/${name}` },
    });
  });

  it(`the packed ${name} has no problems according to publint`, async () => {
    const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it(`the packed ${name} has no problems according to attw`, () => {
    const args = [attw, tarball, '--profile', 'esm-only', '-f', 'ascii', '--no-color'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const found = status === 0 ? '' : stdout + stderr;
    expect({ status, found }).toEqual({ status: 0, found: '' });
  });
});
