import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { boundaries, testBoundary, unreachable } from './import-boundaries.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, 'packages', file), 'utf8');
const files = globSync('*/{src,test}/**/*.ts', { cwd: join(root, 'packages') }).toSorted();
const isTest = (file: string): boolean => /\.test(?:-d)?\.ts$|^\w+\/test\//.test(file);

type Import = { readonly specifier: string; readonly kind: 'value' | 'type' | 're-export' };

/** Returns every import in a source text. The compiler erases those of the kind `type`. */
const importsIn = (text: string): Import[] => {
  const { program, module, errors } = parseSync('source.ts', text);
  expect(errors).toEqual([]);
  const found: Import[] = [];
  const add = (source: { readonly type: string } | null, kind: Import['kind']) => {
    if (source === null) return;
    const isText = 'value' in source && typeof source.value === 'string';
    found.push({ specifier: isText ? String(source.value) : 'an expression', kind });
  };
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => add(source, importKind ?? 'value'),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind ?? 'value'),
    ExportNamedDeclaration: ({ source, exportKind }) => add(source, exportKind ?? 'value'),
    ImportExpression: ({ source }) => add(source, 'value'),
    TSImportType: ({ source }) => add(source, 'type'),
    CallExpression({ callee, arguments: [name = null] }) {
      if (callee.type === 'Identifier' && callee.name === 'require') add(name, 'value');
    },
  }).visit(program);
  for (const { moduleRequest } of module.staticExports.flatMap(({ entries }) => entries)) {
    const specifier = moduleRequest?.value ?? '.';
    if (!specifier.startsWith('.')) found.push({ specifier, kind: 're-export' });
  }
  return found;
};

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** Returns the row of a file: its own, or that of its folder. */
const rowNameOf = (file: string): string => (file in boundaries ? file : dirname(file));

/** Returns the row of a relative specifier, and any other specifier as it is. */
const targetOf = (file: string, specifier: string): string =>
  specifier.startsWith('.') ? rowNameOf(join(dirname(file), specifier)) : specifier;

/** Returns what is wrong with the imports of a file. */
const faultsIn = (file: string, text: string): string[] => {
  const [folder, [ownPackage]] = [rowNameOf(file), file.split('/')];
  const row = isTest(file) ? [...testBoundary, `${ownPackage}/*`] : boundaries[folder];
  if (row === undefined) return [`${file}: its folder has no row in import-boundaries.ts`];
  return importsIn(text).flatMap(({ specifier, kind }) => {
    if (kind === 're-export') {
      return [`${file} exports from ${specifier}: import that where it is used`];
    }
    const target = targetOf(file, specifier);
    const isAllowed = [folder, ...row].some((pattern) => matches(pattern, target));
    return isAllowed ? [] : [`${file} imports ${target}: import-boundaries.ts does not allow that`];
  });
};

/** Returns the modules that a file imports at run time, also through other files of the workspace. */
const reachableFrom = (file: string, seen = new Set<string>()): Set<string> => {
  for (const { specifier, kind } of importsIn(read(file))) {
    const [, name, subpath = ''] = /^@plantstore\/(\w+)(.*)$/.exec(specifier) ?? [];
    let next = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined;
    if (name !== undefined) {
      const { exports } = JSON.parse(read(`${name}/package.json`)) as {
        readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
      };
      next = join(name, exports[`.${subpath}`]?.['@plantstore/source'] ?? '');
    }
    if (kind === 'type' || seen.has(next ?? specifier)) continue;
    seen.add(next ?? specifier);
    if (next !== undefined) reachableFrom(next, seen);
  }
  return seen;
};

describe('import boundaries', () => {
  it('the import boundaries are respected by every source file and test of the packages', () => {
    expect(files.flatMap((file) => faultsIn(file, read(file)))).toEqual([]);
  });

  it.each([
    ["import { createServer } from 'node:http';", 'node:http'],
    ["import 'zod';", 'zod'],
    ["import type { Plant } from '@plantstore/core';", '@plantstore/core'],
    ["export type P = import('@plantstore/core').Plant;", '@plantstore/core'],
    ["export const late = () => import('@plantstore/sqlite');", '@plantstore/sqlite'],
    ['export const any = (name: string) => import(name);', 'an expression'],
    ["export const old = require('pg');", 'pg'],
    ["import { open } from '../../server/src/node/listen-on.ts';", 'server/src/node'],
    ["import { it } from '../test/fixtures.ts';", 'client/test'],
  ])('the import boundaries reject %j in the client', (text, target) => {
    expect(faultsIn('client/src/any.ts', text)).toEqual([
      `client/src/any.ts imports ${target}: import-boundaries.ts does not allow that`,
    ]);
  });

  it.each([
    "export * from 'neverthrow';",
    "export { ok } from 'neverthrow';",
    "import { ok } from 'neverthrow'; export { ok };",
    "import type { Result } from 'neverthrow'; export type { Result };",
  ])('the import boundaries reject the export %j from another package', (text) => {
    const message = 'client/src/any.ts exports from neverthrow: import that where it is used';
    expect(faultsIn('client/src/any.ts', text)).toEqual([message]);
  });

  it('the import boundaries reject a folder without a row', () => {
    expect(faultsIn('client/src/new/any.ts', '')).toHaveLength(1);
  });

  it('the import boundaries allow only what a file imports, and only folders of later rows', () => {
    const sources = files.filter((file) => !isTest(file));
    const folders = Object.keys(boundaries);
    const superfluous = Object.entries(boundaries).flatMap(([folder, row], index) => {
      const targets = sources
        .filter((file) => rowNameOf(file) === folder)
        .flatMap((file) => importsIn(read(file)).map((one) => targetOf(file, one.specifier)));
      const isUsed = (pattern: string) => targets.some((target) => matches(pattern, target));
      const isEarlier = (pattern: string) => folders.slice(0, index).includes(pattern);
      return row.filter((one) => !isUsed(one) || isEarlier(one)).map((one) => [folder, one]);
    });
    expect(superfluous).toEqual([]);
  });

  it('the import boundaries are drawn in docs/architecture.md', () => {
    const drawn = Object.entries(boundaries).flatMap(([folder, row]) =>
      row.flatMap((one) => {
        const boxOf = (path: string) => basename(path, '.ts').replace('src', 'entries');
        if (one.startsWith('server/')) return `${boxOf(folder)} --> ${boxOf(one)}`;
        const [, name] = /^@plantstore\/(\w+)/.exec(one) ?? [];
        return name === undefined ? [] : `${folder.split('/')[0]} --> ${name}`;
      }),
    );
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    expect((page.match(/\w+ --> \w+/g) ?? []).toSorted()).toEqual([...new Set(drawn)].toSorted());
  });
});

/** Returns the files through which a file imports itself, types included; `undefined` if it does not. */
const circleOf = (
  file: string,
  path: readonly string[] = [],
  seen = new Set<string>(),
): string[] | undefined => {
  if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
  if (seen.has(file)) return undefined;
  seen.add(file);
  for (const { specifier } of importsIn(read(file))) {
    if (!specifier.startsWith('.')) continue;
    const circle = circleOf(join(dirname(file), specifier), [...path, file], seen);
    if (circle !== undefined) return circle;
  }
  return undefined;
};

it('no file of server/src/node imports itself through others', () => {
  const inNode = files.filter((file) => dirname(file) === 'server/src/node' && !isTest(file));
  expect(inNode.length).toBeGreaterThan(10);
  expect(inNode.flatMap((file) => circleOf(file) ?? [])).toEqual([]);
});

describe('modules that are reached at run time', () => {
  it.each(Object.entries(unreachable))(
    'the modules that are reached at run time from %s exclude %j',
    (file, patterns) => {
      const reached = [...reachableFrom(file)];
      expect(reached.filter((one) => patterns.some((pattern) => matches(pattern, one)))).toEqual(
        [],
      );
    },
  );

  it('the modules that are reached at run time include zod and Node modules for the entry points that use them', () => {
    expect(reachableFrom('server/src/index.ts')).toContain('node:net');
    expect(reachableFrom('server/src/fetch.ts')).toContain('zod');
  });
});
