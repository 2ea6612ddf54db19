// expected: eslint/no-restricted-imports
import { readFileSync } from 'node:fs';
// expected: eslint/no-restricted-imports
import * as z from 'zod/mini';
// expected: eslint/no-restricted-imports
import { openSqliteRepository } from '../../sqlite/src/mistakes.ts';
import { err } from 'neverthrow';

export const used = [readFileSync, z, openSqliteRepository];
// expected: import-boundaries/no-reexport
export * from 'neverthrow';
// expected: import-boundaries/no-reexport
export { ok } from 'neverthrow';
// expected: import-boundaries/no-reexport
export { err as fails };

// expected: typescript/no-explicit-any
export const anything = (value: any): unknown => value;
// expected: typescript/no-non-null-assertion
export const lengthOf = (text: string | undefined): number => text!.length;

export const describeKind = (kind: 'plant-invalid' | 'id-taken'): string => {
  // expected: typescript/switch-exhaustiveness-check
  switch (kind) {
    case 'id-taken':
      return 'taken';
  }
  return '';
};
