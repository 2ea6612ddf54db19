import { err, ok, type Result } from 'neverthrow';
import { type ErrorName, errorTable } from './errors.ts';
import type { NewPlant } from './plant.ts';
import { NewPlant as schema } from './schemas.ts';

/** A fault of the input for a plant, as a name of the error table. */
export type PlantFault = Extract<
  ErrorName,
  | 'body-not-object'
  | 'id-required'
  | 'id-not-integer'
  | 'id-out-of-range'
  | 'name-required'
  | 'name-not-text'
  | 'tag-not-text'
>;

/** The error for input that is not a plant. */
export type PlantInvalid = {
  readonly kind: 'plant-invalid';
  /** Every fault, in the order id, name, tag. */
  readonly faults: readonly [PlantFault, ...PlantFault[]];
};

/** The members of a plant before validation; `undefined` if absent. */
type Members = { readonly id: unknown; readonly name: unknown; readonly tag: unknown };

/** Reads each member once; returns `undefined` if the input is not an object. */
const readMembers = (input: unknown): Members | undefined => {
  try {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
    const { hasOwn } = Object;
    const members = input as Members;
    // Written out, because a function with the name as an argument is twice as slow.
    return {
      id: hasOwn(input, 'id') ? members.id : undefined,
      name: hasOwn(input, 'name') ? members.name : undefined,
      tag: hasOwn(input, 'tag') ? members.tag : undefined,
    };
  } catch {
    // A getter or a proxy threw.
    return undefined;
  }
};

/** The names of the schema's messages. */
const faultByMessage = new Map<string | undefined, PlantFault>(
  Object.entries(errorTable).map(([name, { message }]) => [message, name as PlantFault]),
);

/**
 * Reads any value as a new plant. Only own members count, members other than `id`, `name` and `tag`
 * are ignored, and a member that is `undefined` is absent. Never throws.
 *
 * @returns the plant, or every fault at once, in the order id, name, tag
 * @example
 * ```ts
 * import { parseNewPlant } from '@plantstore/core';
 *
 * parseNewPlant({ id: 7, name: 'Monstera' }); // ok({ id: 7n, name: 'Monstera' })
 * parseNewPlant({ id: 1.5 }); // err({ kind: 'plant-invalid', faults: ['id-not-integer', 'name-required'] })
 * ```
 */
export const parseNewPlant = (input: unknown): Result<NewPlant, PlantInvalid> => {
  const parsed = schema.safeParse(readMembers(input));
  if (parsed.success) {
    const { id, name, tag } = parsed.data;
    return ok(tag === undefined ? { id, name } : { id, name, tag });
  }
  const faults = parsed.error.issues.map(({ message }) => faultByMessage.get(message));
  return err({ kind: 'plant-invalid', faults: faults as [PlantFault, ...PlantFault[]] });
};
