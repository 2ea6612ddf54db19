/** An id as a caller may pass it: a `bigint`, or a safe integer number. */
export type PlantId = bigint | number;

/**
 * Returns whether a value is an exact int64: a `bigint` in the range of int64, or a safe integer number.
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
 * Returns a new plant as JSON text, with its id as an exact JSON number. Does not validate: pass an id
 * for which {@link isExactId} returns `true`.
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
  // JSON.stringify throws for a bigint. The first 0 in the text is the placeholder of the id.
  return JSON.stringify({ id: 0, name, tag }).replace('0', String(id));
};
