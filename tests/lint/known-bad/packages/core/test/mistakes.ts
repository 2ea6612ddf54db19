// expected: eslint/no-restricted-imports
import { format } from 'prettier';
import { it } from 'vitest';

export const used = [format, it];
