import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const core = fileURLToPath(new URL('../../packages/core/src', import.meta.url));

// `import type` and `export type` are erased by the compiler.
const valueImport = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\bfrom\s+)?'([^']+)'/gm;
const dynamicImport = /\bimport\(\s*'([^']+)'/g;

/** Returns all modules that a source file imports at run time, directly and through its package. */
const importsOf = (file: string, seen = new Set<string>()): Set<string> => {
  const source = readFileSync(file, 'utf8');
  for (const [, specifier] of [
    ...source.matchAll(valueImport),
    ...source.matchAll(dynamicImport),
  ]) {
    if (specifier === undefined) continue;
    const found = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
    if (seen.has(found)) continue;
    seen.add(found);
    if (found !== specifier) importsOf(found, seen);
  }
  return seen;
};

const packagesIn = (imports: Set<string>): string[] =>
  [...imports].filter((one) => !one.startsWith('/'));

describe('the imports of core that a client uses', () => {
  it.each(['errors.ts', 'wire.ts'])('do not include zod: %s', (file) => {
    expect(['neverthrow']).toEqual(expect.arrayContaining(packagesIn(importsOf(join(core, file)))));
  });

  it('include zod for the main entry point, as a positive control', () => {
    expect(packagesIn(importsOf(join(core, 'index.ts')))).toContain('zod/mini');
  });
});

describe('the imports of the fetch handler', () => {
  const fetchHandler = fileURLToPath(
    new URL('../../packages/server/src/fetch.ts', import.meta.url),
  );

  it('include no module of a single runtime', () => {
    expect(packagesIn(importsOf(fetchHandler)).toSorted()).toEqual([
      '@plantstore/core',
      '@plantstore/core/errors',
      '@plantstore/core/wire',
    ]);
  });

  it('include Node modules for the main entry point, as a positive control', () => {
    const server = fileURLToPath(new URL('../../packages/server/src/index.ts', import.meta.url));
    expect(packagesIn(importsOf(server))).toContain('node:https');
  });
});
