import { err, ok, type Result } from 'neverthrow';
import type { ErrorName } from './errors.ts';
import { NewPlant } from './plant.ts';

/** What can be wrong with the input for a plant, by its name in the error table. */
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

/** The input is no plant. */
export type PlantInvalid = {
  readonly kind: 'plant-invalid';
  /** Every fault, in the order id, name, tag. */
  readonly faults: readonly [PlantFault, ...PlantFault[]];
};

type Issue = { readonly code: string; readonly path: readonly PropertyKey[] };

const faultOf = (issue: Issue, input: Readonly<Record<string, unknown>>): PlantFault => {
  switch (issue.path[0]) {
    case 'id':
      if (input['id'] === undefined) return 'id-required';
      return issue.code === 'invalid_type' ? 'id-not-integer' : 'id-out-of-range';
    case 'name':
      return input['name'] === undefined ? 'name-required' : 'name-not-text';
    default:
      return 'tag-not-text';
  }
};

const members = ['id', 'name', 'tag'] as const;

/** The own members that make a plant; `undefined` where there is no object to read them from. */
const ownMembers = (input: unknown): Record<string, unknown> | undefined => {
  try {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
    const own: Record<string, unknown> = {};
    for (const member of members) {
      const value: unknown = Object.hasOwn(input, member) ? Reflect.get(input, member) : undefined;
      if (value !== undefined) own[member] = value;
    }
    return own;
  } catch {
    // A proxy or a getter that throws: whatever it is, it cannot be read as an object.
    return undefined;
  }
};

/**
 * Reads anything as a plant to be created. Only own members count, others than `id`, `name` and
 * `tag` are ignored, and a member that is `undefined` is absent. Never throws.
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
  const own = ownMembers(input);
  if (own === undefined) return err({ kind: 'plant-invalid', faults: ['body-not-object'] });
  const parsed = NewPlant.safeParse(own);
  if (parsed.success) return ok(parsed.data);
  const found = new Map(
    parsed.error.issues.map((issue) => [issue.path[0], faultOf(issue, own)] as const),
  );
  const faults = members.flatMap((member) => found.get(member) ?? []);
  return err({
    kind: 'plant-invalid',
    faults: faults as [PlantFault, ...PlantFault[]],
  });
};
