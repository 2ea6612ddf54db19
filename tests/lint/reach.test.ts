import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const core = fileURLToPath(new URL('../../packages/core/src/', import.meta.url));

// `import type` and `export type` leave nothing behind at run time.
const valueImport = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\bfrom\s+)?'([^']+)'/gm;
const dynamicImport = /\bimport\(\s*'([^']+)'/g;

/** What a source file and everything that it imports from this package bring into a bundle. */
const reachOf = (file: string, seen = new Set<string>()): Set<string> => {
  const source = readFileSync(file, 'utf8');
  for (const [, specifier] of [
    ...source.matchAll(valueImport),
    ...source.matchAll(dynamicImport),
  ]) {
    if (specifier === undefined) continue;
    const found = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
    if (seen.has(found)) continue;
    seen.add(found);
    if (found !== specifier) reachOf(found, seen);
  }
  return seen;
};

const packagesIn = (reach: Set<string>): string[] =>
  [...reach].filter((one) => !one.startsWith('/'));

describe('what a client takes from core', () => {
  it.each(['errors.ts', 'wire.ts'])('reaches from %s no zod', (file) => {
    expect(['neverthrow']).toEqual(expect.arrayContaining(packagesIn(reachOf(join(core, file)))));
  });

  it('would be seen to reach it', () => {
    expect(packagesIn(reachOf(join(core, 'index.ts')))).toContain('zod/mini');
  });
});

describe('what the fetch handler takes along', () => {
  const fetchHandler = fileURLToPath(
    new URL('../../packages/server/src/fetch.ts', import.meta.url),
  );

  it('is nothing that only one runtime has', () => {
    expect(packagesIn(reachOf(fetchHandler)).toSorted()).toEqual([
      '@plantstore/core',
      '@plantstore/core/errors',
      '@plantstore/core/wire',
    ]);
  });

  it('would be seen to be of Node', () => {
    const server = fileURLToPath(new URL('../../packages/server/src/index.ts', import.meta.url));
    expect(packagesIn(reachOf(server))).toContain('node:https');
  });
});
