// expected: eslint/no-restricted-imports
import * as z from 'zod/mini';

export const Text = z.string();
