// expected: eslint/no-restricted-imports
import { Agent } from 'node:http';
// expected: eslint/no-restricted-imports
import { createPlant } from '@plantstore/core';
// The declaration file would import core, which an install of the client does not bring.
// expected: eslint/no-restricted-imports, typescript/no-import-type-side-effects
import { type Plant } from '@plantstore/core';
// expected: eslint/no-restricted-imports
import * as z from 'zod/mini';

export const used = [Agent, createPlant, z];
export const nameOf = (plant: Plant): string => plant.name;
