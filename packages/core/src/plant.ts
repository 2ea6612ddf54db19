import { NewPlant as schema } from './schemas.ts';

// tsc writes an inferred type out, so that the declarations need no zod.
const parse = (input: unknown) => schema.parse(input);

/**
 * A plant to create: its `id`, an exact int64; its `name`; and its `tag`, if it has one. A `tag`
 * that is `undefined` is absent. Text is any well-formed Unicode without U+0000, including the
 * empty string; it is never trimmed or normalized. Source: the specification's "NewPlant".
 */
export interface NewPlant extends ReturnType<typeof parse> {}

/** A plant as the service returns it: without its id. Source: the specification's "Plant". */
export interface Plant extends Omit<NewPlant, 'id'> {}
