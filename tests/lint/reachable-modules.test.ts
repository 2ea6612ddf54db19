import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

const packages = fileURLToPath(new URL('../../packages/', import.meta.url));
const read = (file: string): string => readFileSync(join(packages, file), 'utf8');

/** Returns the modules that a file imports at run time, dynamically, too. */
const importsIn = (file: string): string[] => {
  const { program, errors } = parseSync(file, read(file));
  expect(errors).toEqual([]);
  const found: string[] = [];
  const add = (source: { readonly type: string } | null, kind?: string) => {
    if (source === null || kind === 'type') return;
    found.push('value' in source ? String(source.value) : 'an expression');
  };
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => add(source, importKind),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind),
    ExportNamedDeclaration: ({ source, exportKind }) => add(source, exportKind),
    ImportExpression: ({ source }) => add(source),
  }).visit(program);
  return found;
};

/** Returns the modules that a file imports at run time, also through other files of the workspace. */
const reachableFrom = (file: string, seen = new Set<string>()): Set<string> => {
  for (const specifier of importsIn(file)) {
    const [, name, subpath = ''] = /^@plantstore\/(\w+)(.*)$/.exec(specifier) ?? [];
    let next = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined;
    if (name !== undefined) {
      const { exports } = JSON.parse(read(`${name}/package.json`)) as {
        readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
      };
      next = join(name, exports[`.${subpath}`]?.['@plantstore/source'] ?? '');
    }
    if (seen.has(next ?? specifier)) continue;
    seen.add(next ?? specifier);
    if (next !== undefined) reachableFrom(next, seen);
  }
  return seen;
};

describe('modules that are reached at run time', () => {
  it.each([
    ['client/src/index.ts', /^node:|^zod/],
    ['core/src/errors.ts', /^node:|^zod/],
    ['core/src/group-commit.ts', /^node:|^zod/],
    ['core/src/wire.ts', /^node:|^zod/],
    // It runs on every runtime.
    ['server/src/fetch.ts', /^node:/],
    // A command needs no HTTP.
    ['plantstore/src/commands/run-command.ts', /\/serve\//],
  ])('the modules that are reached at run time from %s exclude %s', (file, pattern) => {
    expect([...reachableFrom(file)].filter((one) => pattern.test(one))).toEqual([]);
  });

  it('the modules that are reached at run time include zod and Node modules for the entry points that use them', () => {
    expect(reachableFrom('server/src/index.ts')).toContain('node:net');
    expect(reachableFrom('server/src/fetch.ts')).toContain('zod');
  });
});
