import { err, ok, type Result } from 'neverthrow';
import { type ErrorName, errorTable } from './errors.ts';
import type { NewPlant } from './plant.ts';
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
 * parseNewPlant({ id: 1.5 }); // err({ kind: 'plant-invalid', faults: ['id-not-integer', 'name-required'] })
 * ```
 */
export function parseNewPlant(input: unknown): Result<NewPlant, PlantInvalid> {
  const parsed = schema.safeParse(readMembers(input));
  if (parsed.success) return ok(copyPlant(parsed.data));
  const faults = parsed.error.issues.map(({ message }) => faultByMessage.get(message));
  return err({ kind: 'plant-invalid', faults: faults as [PlantFault, ...PlantFault[]] });
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

/** The names of the schema's messages. */
const faultByMessage = new Map<string | undefined, PlantFault>(
  Object.entries(errorTable).map(([name, { message }]) => [message, name as PlantFault]),
);
