import * as z from 'zod/mini';
import { isUnicodeText } from './unicode-text.ts';

const Text = z.string().check(z.refine(isUnicodeText));

const toExact = (id: unknown): unknown => (Number.isSafeInteger(id) ? BigInt(id as number) : id);

/**
 * A plant as the service returns it: `name`, and `tag` if the plant has one. Text is any well-formed
 * Unicode without U+0000, including the empty string; it is never trimmed or normalized.
 * Source: the specification's "Plant".
 *
 * @example
 * ```ts
 * import { Plant } from '@plantstore/core';
 *
 * Plant.safeParse({ name: 'Monstera', tag: 'climber' }).success; // true
 * ```
 */
export const Plant = z.object({
  /** The name: Unicode text, unchanged. */
  name: Text,
  /** The tag: Unicode text, unchanged; absent if the plant has none. */
  tag: z.exactOptional(Text),
});

/** A plant as the service returns it; see the schema of the same name. */
export interface Plant extends z.infer<typeof Plant> {}

/**
 * A plant to create: a {@link Plant} and its `id`, an exact int64. The schema accepts the id as a
 * `bigint` or a safe integer number and returns a `bigint`. Other members are removed.
 * Source: the specification's "NewPlant".
 *
 * @example
 * ```ts
 * import { NewPlant } from '@plantstore/core';
 *
 * NewPlant.parse({ id: 7, name: 'Monstera' }); // { id: 7n, name: 'Monstera' }
 * ```
 */
export const NewPlant = z.object({
  /** The id, an int64: a `bigint` after parsing. */
  id: z.pipe(z.transform(toExact), z.int64()),
  ...Plant.shape,
});

/** A plant to create; see the schema of the same name. */
export interface NewPlant extends z.infer<typeof NewPlant> {}
