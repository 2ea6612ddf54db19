import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const server = 'packages/server/src';

const importPattern = /^(?:import|export)\b[^;']*'([^']+)';|\bimport\('([^']+)'\)/gm;

const files = globSync('packages/*/src/**/*.ts', {
  cwd: root,
  exclude: ['**/*.{test,test-d}.ts', '**/test-support/**'],
});

/** The files that a file imports, and the packages of the workspace. */
const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(importPattern)].flatMap(
    ([, written = '', loaded = written]) => {
      if (loaded.startsWith('.')) return join(dirname(file), loaded);
      return /^@plantstore\/\w+/.exec(loaded)?.[0].replace('@plantstore', 'packages') ?? [];
    },
  );

/** The box of a file of the server in the drawing: its folder, or the entries, which are in none. */
const boxOf = (file: string): string => {
  const [folder = ''] = relative(server, file).split('/');
  return folder.endsWith('.ts') ? 'entries' : folder;
};

const packageOf = (file: string): string => file.split('/')[1] ?? '';

const edges = files.flatMap((file) =>
  importsOf(file).flatMap((imported) => {
    const isInServer = file.startsWith(`${server}/`) && imported.startsWith(`${server}/`);
    const [from, to] = isInServer
      ? [boxOf(file), boxOf(imported)]
      : [packageOf(file), packageOf(imported)];
    return from === to ? [] : `${from} --> ${to}`;
  }),
);

it('draws every import between packages and between folders of the server, and no other', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const drawings = page.match(/^```mermaid\n.*?^```$/gms) ?? [];
  const arrows = drawings.flatMap((drawing) => drawing.match(/\w+ --> \w+/g) ?? []);
  expect(arrows.toSorted()).toEqual([...new Set(edges)].toSorted());
});
