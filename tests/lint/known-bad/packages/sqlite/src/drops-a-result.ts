// expected: typescript/no-floating-promises
import { type NewPlant, type PlantRepository, createPlant } from '@plantstore/core';

export const forget = (repository: PlantRepository, plant: NewPlant): void => {
  createPlant(repository, plant);
};
