import type { NewPlant } from './plant.ts';
import type { PlantRepository } from './plant-repository.ts';
import { isUnicodeText } from './unicode-text.ts';

/** The plant of the call of {@link createValidated} that is running, if any. */
let validated: NewPlant | undefined;

/**
 * Passes a validated plant to a repository. While the call runs, {@link assertNewPlant} does not read text again
 * that is the same as the plant's.
 */
export const createValidated = (
  repository: PlantRepository,
  plant: NewPlant,
): ReturnType<PlantRepository['create']> => {
  const outer = validated;
  validated = plant;
  try {
    // A copy, because a repository may change its argument.
    return repository.create({ ...plant });
  } finally {
    validated = outer;
  }
};

const isValidated = (id: bigint, name: string, tag: string | undefined): boolean =>
  validated !== undefined &&
  id === validated.id &&
  name === validated.name &&
  tag === validated.tag;

/**
 * Throws if a plant cannot be stored exactly: its `id` is not an int64, or its `name` or `tag` is not
 * Unicode text. A repository calls it first: a plant that was not validated is a bug of the caller,
 * and must not fail other plants of the same commit.
 *
 * @param plant - the argument of {@link PlantRepository.create}
 * @throws TypeError for a wrong type, RangeError for an id beyond int64
 * @example
 * ```ts
 * import { assertNewPlant } from '@plantstore/core';
 *
 * assertNewPlant({ id: 7n, name: 'Monstera' }); // returns
 * assertNewPlant({ id: 2n ** 63n, name: 'Monstera' }); // throws a RangeError
 * ```
 */
export const assertNewPlant = ({ id, name, tag }: NewPlant): void => {
  if (isValidated(id, name, tag)) return;
  if (typeof id !== 'bigint') throw new TypeError('the id must be a bigint');
  if (BigInt.asIntN(64, id) !== id) throw new RangeError('the id must be an int64');
  if (!isUnicodeText(name) || (tag !== undefined && !isUnicodeText(tag))) {
    throw new TypeError('name and tag must be Unicode text');
  }
};
