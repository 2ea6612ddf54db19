import { errAsync, type Result, ResultAsync } from 'neverthrow';
import { parseNewPlant, type PlantInvalid } from './parse-new-plant.ts';
import { withoutId } from './plant-members.ts';
import type { Plant } from './plant.ts';
import type {
  IdTaken,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from './plant-repository.ts';
import { isRefusal } from './errors.ts';

/**
 * Creates a plant: validates the input, stores the plant in the repository, and returns it without
 * its id (rule 2 of the specification's "Create plant"). Creating the same plant again succeeds
 * and changes nothing.
 *
 * Never throws, and rejects for no input. The result rejects only because of a bug in the
 * repository: a rejection, or a refusal without a message or a number from 4000 to 4999.
 *
 * @param repository - the repository that stores the plant
 * @param input - any value; a plant has an `id` (a `bigint` or a safe integer), a `name`, and maybe
 * a `tag`
 * @returns the plant, or `plant-invalid` with every fault, `id-taken`, `plant-refused`, or
 * `store-unavailable`
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
export function createPlant(
  repository: PlantRepository,
  input: unknown,
): ResultAsync<Plant, CreatePlantError> {
  const parsed = parseNewPlant(input);
  if (parsed.isErr()) return errAsync(parsed.error);
  // Made first, because a repository may change its plant.
  const answer = withoutId(parsed.value);
  try {
    // `then` is the promise's, without a wrapper.
    const creating = repository
      .create(parsed.value)
      .then((created) => created.map(() => answer).mapErr(assertAllowed));
    return new ResultAsync(creating as Promise<Result<Plant, CreatePlantError>>);
  } catch (thrown) {
    // A repository that throws makes the result reject, so that createPlant never throws.
    const reason = thrown as Error;
    return new ResultAsync(Promise.reject(reason));
  }
}

/** Why a plant was not created. Closed: a switch over `kind` is exhaustive. */
export type CreatePlantError = PlantInvalid | IdTaken | PlantRefused | StoreUnavailable;

/**
 * Returns an error of the repository. Throws for a refusal with the number of a row of the error
 * table, or without a message, which would be sent.
 */
function assertAllowed<Failure extends IdTaken | PlantRefused | StoreUnavailable>(
  failure: Failure,
): Failure {
  if (failure.kind !== 'plant-refused') return failure;
  if (isRefusal(failure.error) && typeof failure.message === 'string') return failure;
  throw new TypeError('a refusal has a number from 4000 to 4999, and a message');
}
