// expected: eslint/no-restricted-imports
// (a declaration file would import core, which an install of the client does not bring)
import type { Plant } from '@plantstore/core';

export const name = (plant: Plant): string => plant.name;
