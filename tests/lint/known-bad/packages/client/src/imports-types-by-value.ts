// expected: typescript/no-import-type-side-effects
// (verbatimModuleSyntax keeps such an import, and with it zod)
import { type Plant } from '@plantstore/core';

export const name = (plant: Plant): string => plant.name;
