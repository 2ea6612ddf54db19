import * as z from 'zod/mini';
import { isUnicodeText } from './unicode-text.ts';

const Text = z.string().check(z.refine(isUnicodeText));

const toExact = (id: unknown): unknown => (Number.isSafeInteger(id) ? BigInt(id as number) : id);

/**
 * A plant as the service answers it: `name`, and `tag` only where it was given.
 * Text is any well-formed Unicode without U+0000, the empty string included; it is never trimmed
 * or normalised. Source: the specification's "Plant".
 *
 * @example
 * ```ts
 * import { Plant } from '@plantstore/core';
 *
 * Plant.safeParse({ name: 'Monstera', tag: 'climber' }).success; // true
 * ```
 */
export const Plant = z.object({
  /** Unicode text, as it was given. */
  name: Text,
  /** Likewise; not there where none was given. */
  tag: z.exactOptional(Text),
});

/** A plant as the service answers it; see the schema of the same name. */
export interface Plant extends z.infer<typeof Plant> {}

/**
 * A plant to be created: a {@link Plant} and its `id`, an exact int64. The schema takes the id as a
 * `bigint` or as a safe integer number and gives a `bigint`. Members that it does not know are
 * dropped. Source: the specification's "NewPlant".
 *
 * @example
 * ```ts
 * import { NewPlant } from '@plantstore/core';
 *
 * NewPlant.parse({ id: 7, name: 'Monstera' }); // { id: 7n, name: 'Monstera' }
 * ```
 */
export const NewPlant = z.object({
  /** An int64: a `bigint` once it is parsed. */
  id: z.pipe(z.transform(toExact), z.int64()),
  ...Plant.shape,
});

/** A plant to be created; see the schema of the same name. */
export interface NewPlant extends z.infer<typeof NewPlant> {}
