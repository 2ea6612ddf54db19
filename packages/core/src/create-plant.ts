import { errAsync, type Result, ResultAsync } from 'neverthrow';
import { parseNewPlant, type PlantInvalid } from './parse-new-plant.ts';
import type { NewPlant, Plant } from './plant.ts';
import type {
  IdTaken,
  PlantRefused,
  PlantRepository,
  StoreUnavailable,
} from './plant-repository.ts';
import { isRefusal } from './errors.ts';

/** Why a plant was not created. Closed: a switch over `kind` is exhaustive. */
export type CreatePlantError = PlantInvalid | IdTaken | PlantRefused | StoreUnavailable;

type Created = Result<void, IdTaken | PlantRefused | StoreUnavailable>;

const withoutId = ({ name, tag }: NewPlant): Plant =>
  tag === undefined ? { name } : { name, tag };

/** Throws where a repository refuses a plant as it must not, so that no other row of the table is sent. */
const keepingItsPromise = (created: Created): Created => {
  if (created.isErr() && created.error.kind === 'plant-refused') {
    const { error, message } = created.error;
    if (!isRefusal(error)) throw new RangeError('a refusal has a number from 4000 to 4999');
    if (typeof message !== 'string') throw new TypeError('the message of a refusal is a string');
  }
  return created;
};

/**
 * Creates a plant: validates the input, keeps it in the repository, and gives the plant without
 * its id (rule 2 of the specification's "Create plant"). Creating the same plant again succeeds
 * and changes nothing.
 *
 * Whatever the input is, this neither throws nor rejects; only a repository that breaks its own
 * promise makes the result reject: it rejects, or refuses a plant with a number that is not from 4000
 * to 4999.
 *
 * @param repository - where plants are kept
 * @param input - anything; a plant needs `id` (a `bigint` or a safe integer) and `name`, may have `tag`
 * @returns the plant, or `plant-invalid` with every fault, `id-taken`, `plant-refused`, or `store-unavailable`
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
      .then((created) => keepingItsPromise(created).map(() => withoutId(plant)));
    return new ResultAsync(creating as Promise<Result<Plant, CreatePlantError>>);
  } catch (thrown) {
    // No call here throws.
    const reason = thrown as Error;
    return new ResultAsync(Promise.reject(reason));
  }
};
