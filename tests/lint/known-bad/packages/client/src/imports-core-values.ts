// expected: eslint/no-restricted-imports
import { createPlant } from '@plantstore/core';

export const create = createPlant;
