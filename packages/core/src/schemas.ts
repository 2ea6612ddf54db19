/**
 * `@plantstore/core/schemas`: the zod schemas of a plant, for forms and routers of an app.
 * It requires `zod`, an optional peer dependency.
 *
 * @module
 */

// Built into core, it is zod/mini; built as an entry, it is the zod of the app.
import * as z from 'zod';
import { isExactId, type PlantId } from './exact-id.ts';
import { errorTable } from './errors.ts';
import { faultOf } from './plant-faults.ts';
import { isUnicodeText } from './unicode-text.ts';

// Any version may be installed beside core. The registry is new in zod 4.
if ((z.globalRegistry as unknown) === undefined) {
  throw new Error('@plantstore/core/schemas requires zod 4: npm install zod@4');
}

/** Returns the function that zod calls for the message of an issue of a member. */
const messageOf =
  (member: keyof typeof faultOf) =>
  ({ input }: { readonly input?: unknown }): string | undefined => {
    const fault = faultOf[member](input);
    // An input without a fault is that of a check which an app has added, with its own message.
    return fault && errorTable[fault].message;
  };

const text = (member: keyof typeof faultOf, description: string) => {
  const error = messageOf(member);
  return z
    .string({ error })
    .check(z.refine(isUnicodeText, { error }))
    .register(z.globalRegistry, { description });
};

// In zod, a custom schema has one type for its input and its output.
const exactId = z.custom<bigint>(isExactId, { error: messageOf('id'), abort: true }) as z.ZodType<
  bigint,
  PlantId
>;

const id = exactId
  .check(z.overwrite(BigInt))
  // JSON Schema has no type for a bigint.
  .register(z.globalRegistry, {
    type: 'integer',
    format: 'int64',
    description: 'Identification number of the plant',
  });

const objectError = { error: errorTable['body-not-object'].message };

/**
 * A plant as the service returns it: `name`, and `tag` if the plant has one. Text is any
 * well-formed Unicode without U+0000, including the empty string; it is never trimmed or
 * normalized. A `tag` that is `undefined` is absent. Source: the specification's "Plant".
 *
 * @example
 * ```ts
 * import { Plant } from '@plantstore/core/schemas';
 *
 * Plant.safeParse({ name: 'Monstera', tag: 'climber' }).success; // true
 * ```
 */
export const Plant = z.object(
  {
    name: text('name', 'The name of the plant'),
    tag: z.optional(text('tag', 'Tag to specify the type of the plant')),
  },
  objectError,
);

/** The type of the schema of the same name. */
export interface Plant extends z.infer<typeof Plant> {}

/**
 * A plant to create: a {@link Plant} and its `id`, an exact int64. The schema accepts the id as a
 * `bigint` or a safe integer number and returns a `bigint`. Other members are removed. The messages
 * of its issues are those of the error table. Source: the specification's "NewPlant".
 *
 * @example
 * ```ts
 * import { NewPlant } from '@plantstore/core/schemas';
 *
 * NewPlant.parse({ id: 7, name: 'Monstera' }); // { id: 7n, name: 'Monstera' }
 * ```
 */
export const NewPlant = z.object({ id, ...Plant.shape }, objectError);

/** The type of the schema of the same name. */
export interface NewPlant extends z.infer<typeof NewPlant> {}
