import { writeFile } from 'node:fs/promises';
import { createPlant, type NewPlant, type PlantRepository } from '@plantstore/core';
// expected: eslint/no-restricted-imports
import * as server from '@plantstore/server';
// expected: eslint/no-restricted-imports
import * as z from 'zod/mini';

export const openSqliteRepository: unknown = [server, z];

export const forgetPromise = (path: string): void => {
  // expected: typescript/no-floating-promises
  writeFile(path, '');
};

export const forgetResult = (repository: PlantRepository, plant: NewPlant): void => {
  // expected: typescript/no-floating-promises
  createPlant(repository, plant);
};
