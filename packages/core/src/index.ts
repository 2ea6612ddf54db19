/**
 * @module
 * @mergeModuleWith <project>
 */

export { assertNewPlant } from './assert-new-plant.ts';
export { createPlant, type CreatePlantError } from './create-plant.ts';
export { createMemoryRepository } from './memory-repository.ts';
export { parseNewPlant, type PlantFault, type PlantInvalid } from './parse-new-plant.ts';
export type { Result, ResultAsync } from 'neverthrow';
export type { NewPlant, Plant } from './plant.ts';
export type {
  IdTaken,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from './plant-repository.ts';
export type { PlantStore } from './plant-store.ts';
