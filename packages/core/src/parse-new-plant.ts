import { err, ok, type Result } from 'neverthrow';
import type { ErrorName } from './errors.ts';
import type { NewPlant } from './plant.ts';
import { faultOf } from './plant-faults.ts';
import { copyPlant, readMembers } from './plant-members.ts';
import { NewPlant as schema } from './schemas.ts';

/**
 * Reads any value as a new plant. Only own members count, members that a plant does not have
 * are ignored, and a member that is `undefined` is absent. Never throws.
 *
 * @returns the plant, or every fault at once, in the order of the members
 * @example
 * ```ts
 * import { parseNewPlant } from '@plantstore/core';
 *
 * parseNewPlant({ id: 7, name: 'Monstera' }); // ok({ id: 7n, name: 'Monstera' })
 * parseNewPlant({ id: 1.5 })._unsafeUnwrapErr().faults; // ['id-not-integer', 'name-required']
 * ```
 */
export function parseNewPlant(input: unknown): Result<NewPlant, PlantInvalid> {
  const members = readMembers(input);
  if (members === undefined) return err({ kind: 'plant-invalid', faults: ['body-not-object'] });
  const parsed = schema.safeParse(members);
  if (parsed.success) return ok(copyPlant(parsed.data));
  // A list has an issue for each item that is wrong.
  const wrong = new Set(parsed.error.issues.map(({ path }) => path[0] as keyof NewPlant));
  const found = Array.from(wrong, (member) => faults[member](members[member]));
  return err({ kind: 'plant-invalid', faults: found as [PlantFault, ...PlantFault[]] });
}

/** A fault of the input for a plant, as a name of the error table. */
export type PlantFault = Extract<
  Exclude<ErrorName, 'id-taken'>,
  'body-not-object' | `${keyof NewPlant}-${string}`
>;

/** The error for input that is not a plant. */
export type PlantInvalid = {
  readonly kind: 'plant-invalid';
  /** Every fault, in the order of the members. */
  readonly faults: readonly [PlantFault, ...PlantFault[]];
};

/** The fault of each member; a type error where one of the schema is missing. */
const faults: Record<keyof NewPlant, (value: unknown) => PlantFault | undefined> = faultOf;
