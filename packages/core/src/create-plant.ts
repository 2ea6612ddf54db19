import { err, type Result, ResultAsync } from 'neverthrow';
import { parseNewPlant, type PlantInvalid } from './parse-new-plant.ts';
import type { Plant } from './plant.ts';
import type { IdTaken, PlantRepository, StoreUnavailable } from './plant-repository.ts';

/** Why a plant was not created. Closed: a switch over `kind` is exhaustive. */
export type CreatePlantError = PlantInvalid | IdTaken | StoreUnavailable;

// Async, so that a repository that throws rejects and no call here throws.
const create = async (
  repository: PlantRepository,
  input: unknown,
): Promise<Result<Plant, CreatePlantError>> => {
  const parsed = parseNewPlant(input);
  if (parsed.isErr()) return err(parsed.error);
  const { id: _, ...plant } = parsed.value;
  return (await repository.create(parsed.value)).map(() => plant);
};

/**
 * Creates a plant: validates the input, keeps it in the repository, and gives the plant without
 * its id (rule 2 of the specification's "Create plant"). Creating the same plant again succeeds
 * and changes nothing.
 *
 * Whatever the input is, this neither throws nor rejects; only a repository that breaks its own
 * promise and rejects makes the result reject.
 *
 * @param repository - where plants are kept
 * @param input - anything; a plant needs `id` (a `bigint` or a safe integer) and `name`, may have `tag`
 * @returns the plant, or `plant-invalid` with every fault, `id-taken`, or `store-unavailable`
 * @example
 * ```ts
 * import { createMemoryRepository, createPlant } from '@plantstore/core';
 *
 * const repository = createMemoryRepository();
 * const result = await createPlant(repository, { id: 7, name: 'Monstera' });
 * result.match(
 *   (plant) => `created ${plant.name}`,
 *   (error) => `not created: ${error.kind}`,
 * );
 * ```
 */
export const createPlant = (
  repository: PlantRepository,
  input: unknown,
): ResultAsync<Plant, CreatePlantError> => new ResultAsync(create(repository, input));
