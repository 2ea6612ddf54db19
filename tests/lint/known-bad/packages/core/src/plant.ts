// expected: eslint/no-restricted-imports
import * as z from 'zod';
import * as mini from 'zod/mini';

export const used = [z, mini];
