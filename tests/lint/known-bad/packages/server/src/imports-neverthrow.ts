// expected: eslint/no-restricted-imports
import { ok } from 'neverthrow';

export const fine = ok;
