import type { Result } from 'neverthrow';
import type { CreatePlantError } from './create-plant-error.ts';
import type { Plant } from './plant.ts';

/** Options of `createPlants`. */
export type CreatePlantsOptions = {
  /**
   * Maximum number of plants that were read from the source and whose outcome was not taken yet, in
   * flight included. Default: 8, also for a value that is not a whole number of at least 1.
   */
  readonly concurrency?: number | undefined;
  /** Ends the calls in flight as `aborted`, and then the iteration. Default: none. */
  readonly signal?: AbortSignal | undefined;
};

/** The outcome of one plant. */
export type PlantOutcome<Given> = {
  /** Its place in the source, from 0 on. */
  readonly index: number;
  /** The plant as the source gave it, with whatever other members it has. */
  readonly newPlant: Given;
  /** What its call returned. */
  readonly result: Result<Plant, CreatePlantError>;
};
