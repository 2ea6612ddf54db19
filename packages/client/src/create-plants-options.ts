import type { Result } from 'neverthrow';
import type { CreatePlantError } from './create-plant-error.ts';
import type { Plant } from './plant.ts';

/** Options of `createPlants`. */
export type CreatePlantsOptions = {
  /**
   * Maximum number of plants that were read from the source and whose outcome was not consumed yet,
   * including those in flight. Default: 8, also for a value that is not a whole number of at least 1.
   */
  readonly concurrency?: number | undefined;
  /** Aborts the calls in flight, with the error `aborted`, and then ends the iteration. Default: none. */
  readonly signal?: AbortSignal | undefined;
};

/** The outcome of one plant. */
export type PlantOutcome<Given> = {
  /** Index of the plant in the source, from 0. */
  readonly index: number;
  /** The plant that the source yielded, including additional members. */
  readonly newPlant: Given;
  /** The result of its call. */
  readonly result: Result<Plant, CreatePlantError>;
};
