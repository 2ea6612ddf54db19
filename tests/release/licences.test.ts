import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Manifest = {
  readonly name: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
};

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

it('the page of releases lists the licence of every dependency', () => {
  const dependencies = globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
    const folder = join(root, dirname(file));
    return Object.keys(readManifest(folder).dependencies ?? {})
      .filter((name) => !name.startsWith('@plantstore/'))
      .map((name) => readManifest(join(folder, 'node_modules', name)));
  });
  const page = readFileSync(join(root, 'docs/releases.md'), 'utf8');
  const listed = page.split('\n').flatMap((line) => {
    const [, names, , licence] = line.split('|').map((cell) => cell.trim());
    if (!names?.startsWith('`')) return [];
    return names.split(', ').map((name) => `${name.replaceAll('`', '')} ${licence}`);
  });
  const installed = dependencies.map(({ name, license }) => `${name} ${license}`);
  expect(listed.toSorted()).toEqual([...new Set(installed)].toSorted());
});
