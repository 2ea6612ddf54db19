/** An id as a caller may write it: a `bigint`, or a number where that is exact. */
export type PlantId = bigint | number;

/**
 * Whether a value is an exact int64: a `bigint` in its range, or a safe integer number.
 *
 * @example
 * ```ts
 * import { isExactId } from '@plantstore/core/wire';
 *
 * isExactId(9223372036854775807n); // true
 * isExactId(2 ** 53); // false: the number may have been rounded
 * ```
 */
export const isExactId = (id: unknown): id is PlantId =>
  typeof id === 'bigint' ? BigInt.asIntN(64, id) === id : Number.isSafeInteger(id);

/**
 * Writes a plant to be created as JSON text, the id as an exact JSON number. It does not validate:
 * pass an id for which {@link isExactId} holds.
 *
 * @example
 * ```ts
 * import { encodeNewPlant } from '@plantstore/core/wire';
 *
 * encodeNewPlant({ id: 9007199254740993n, name: 'Monstera' }); // {"id":9007199254740993,"name":"Monstera"}
 * ```
 */
export const encodeNewPlant = (plant: {
  readonly id: PlantId;
  readonly name: string;
  readonly tag?: string | undefined;
}): string => {
  const { id, name, tag } = plant;
  // JSON.stringify refuses a bigint; the first 0 in the text is the id's place.
  return JSON.stringify({ id: 0, name, tag }).replace('0', BigInt(id).toString());
};
