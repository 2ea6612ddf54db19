import { errAsync, type Result, ResultAsync } from 'neverthrow';
import { parseNewPlant, type PlantInvalid } from './parse-new-plant.ts';
import type { NewPlant, Plant } from './plant.ts';
import type { IdTaken, PlantRepository, StoreUnavailable } from './plant-repository.ts';

/** Why a plant was not created. Closed: a switch over `kind` is exhaustive. */
export type CreatePlantError = PlantInvalid | IdTaken | StoreUnavailable;

const withoutId = ({ name, tag }: NewPlant): Plant =>
  tag === undefined ? { name } : { name, tag };

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
): ResultAsync<Plant, CreatePlantError> => {
  const parsed = parseNewPlant(input);
  if (parsed.isErr()) return errAsync(parsed.error);
  const plant = parsed.value;
  try {
    // A ResultAsync has a promise inside, and its then is that promise's.
    const creating = repository
      .create(plant)
      .then((created) => created.map(() => withoutId(plant)));
    return new ResultAsync(creating as Promise<Result<Plant, CreatePlantError>>);
  } catch (thrown) {
    // No call here throws.
    const reason = thrown as Error;
    return new ResultAsync(Promise.reject(reason));
  }
};
