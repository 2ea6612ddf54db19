// expected: eslint/no-restricted-imports
// (all of zod, where zod/mini does)
import * as z from 'zod';

export const Text = z.string();
