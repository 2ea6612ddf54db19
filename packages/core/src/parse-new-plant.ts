import { err, ok, type Result } from 'neverthrow';
import { isExactId } from './encode-new-plant.ts';
import type { ErrorName } from './errors.ts';
import type { NewPlant } from './plant.ts';
import { isUnicodeText } from './unicode-text.ts';

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

const faultsOf = ({ id, name, tag }: Members): PlantFault[] => {
  const faults: PlantFault[] = [];
  if (id === undefined) faults.push('id-required');
  else if (!isExactId(id)) {
    faults.push(typeof id === 'bigint' ? 'id-out-of-range' : 'id-not-integer');
  }
  if (name === undefined) faults.push('name-required');
  else if (!isUnicodeText(name)) faults.push('name-not-text');
  if (tag !== undefined && !isUnicodeText(tag)) faults.push('tag-not-text');
  return faults;
};

/** Returns the plant, or `undefined` if the members have a fault. */
const plantOf = ({ id, name, tag }: Members): NewPlant | undefined => {
  if (!isExactId(id) || !isUnicodeText(name)) return undefined;
  if (tag === undefined) return { id: BigInt(id), name };
  return isUnicodeText(tag) ? { id: BigInt(id), name, tag } : undefined;
};

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
  const members = readMembers(input);
  if (members === undefined) return err({ kind: 'plant-invalid', faults: ['body-not-object'] });
  const plant = plantOf(members);
  if (plant !== undefined) return ok(plant);
  const faults = faultsOf(members) as [PlantFault, ...PlantFault[]];
  return err({ kind: 'plant-invalid', faults });
};
