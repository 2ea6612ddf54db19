/**
 * Returns whether a value is an exact int64: a `bigint` in the range of int64, or a safe integer
 * number.
 *
 * @example
 * ```ts
 * import { isExactId } from '@plantstore/core/wire';
 *
 * isExactId(9223372036854775807n); // true
 * isExactId(2 ** 53); // false: the number may have been rounded
 * ```
 */
export function isExactId(id: unknown): id is PlantId {
  return typeof id === 'bigint' ? BigInt.asIntN(64, id) === id : Number.isSafeInteger(id);
}

/** An id as a caller may pass it: a `bigint`, or a safe integer number. */
export type PlantId = bigint | number;
