import type { NewPlant } from './plant.ts';
import { invalidMember } from './plant-members.ts';

/**
 * Throws if a plant cannot be stored exactly: its `id` is not an int64, or another member has a
 * value that no plant can have, such as text with a lone surrogate. A repository calls it
 * first: a plant that was not validated is a bug of the caller, and must not fail other plants of
 * the same commit.
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
export function assertNewPlant(plant: NewPlant): void {
  const { id } = plant;
  if (typeof id !== 'bigint') throw new TypeError('the id must be a bigint');
  if (BigInt.asIntN(64, id) !== id) throw new RangeError('the id must be an int64');
  const wrong = invalidMember(plant);
  if (wrong !== undefined) throw new TypeError(`no plant can have this ${wrong}`);
}
