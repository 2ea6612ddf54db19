import type { NewPlant } from './plant.ts';
import { isUnicodeText } from './unicode-text.ts';

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
  if (typeof id !== 'bigint') throw new TypeError('the id must be a bigint');
  if (BigInt.asIntN(64, id) !== id) throw new RangeError('the id must be an int64');
  if (!isUnicodeText(name) || (tag !== undefined && !isUnicodeText(tag))) {
    throw new TypeError('name and tag must be Unicode text');
  }
};
