// What is done with the members of a plant, written out, because a loop over their names takes
// longer. `Record` and `Complete` are type errors where one of the schema is missing.

import type { PlantId } from './exact-id.ts';
import type { NewPlant, Plant } from './plant.ts';
import { isUnicodeText } from './unicode-text.ts';

/** An object with every member of another type; an optional one may be `undefined`. */
type Complete<Of> = { readonly [Member in keyof Required<Of>]: Of[Member] };

type Optional = {
  [Member in keyof Plant as undefined extends Plant[Member] ? Member : never]: Plant[Member];
};

/**
 * The members of a new plant in their order, and whether a plant must have each.
 *
 * @example
 * ```ts
 * import { isRequired } from '@plantstore/core/wire';
 *
 * isRequired; // { id: true, name: true, tag: false }
 * ```
 */
export const isRequired = { id: true, name: true, tag: false } as const satisfies {
  [Member in keyof Required<NewPlant>]: Member extends keyof Optional ? false : true;
};

/**
 * The names of the members of a new plant, in their order.
 *
 * @example
 * ```ts
 * import { memberNames } from '@plantstore/core/wire';
 *
 * memberNames; // ['id', 'name', 'tag']
 * ```
 */
export const memberNames = Object.keys(isRequired) as readonly (keyof NewPlant)[];

/** Reads each own member once; returns `undefined` if the input is not an object. */
export function readMembers(input: unknown): Record<keyof NewPlant, unknown> | undefined {
  try {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
    const { hasOwn } = Object;
    const members = input as Record<keyof NewPlant, unknown>;
    return {
      id: hasOwn(input, 'id') ? members.id : undefined,
      name: hasOwn(input, 'name') ? members.name : undefined,
      tag: hasOwn(input, 'tag') ? members.tag : undefined,
    };
  } catch {
    // A getter or a proxy threw.
    return undefined;
  }
}

/**
 * Copies a plant: reads each member once, and omits those that are `undefined` or not of a plant.
 *
 * @example
 * ```ts
 * import { copyPlant } from '@plantstore/core/wire';
 *
 * copyPlant({ id: 7n, name: 'Monstera', tag: undefined }); // { id: 7n, name: 'Monstera' }
 * ```
 */
export function copyPlant<Id>(plant: Readonly<Plant> & { readonly id: Id }): Plant & { id: Id } {
  const { id, name, tag } = plant;
  return withOptional({ id, name }, { tag });
}

/**
 * Copies a plant without its id, as {@link copyPlant} does.
 *
 * @example
 * ```ts
 * import { withoutId } from '@plantstore/core/wire';
 *
 * withoutId({ name: 'Monstera', tag: undefined }); // { name: 'Monstera' }
 * ```
 */
export function withoutId({ name, tag }: Readonly<Plant>): Plant {
  return withOptional({ name }, { tag });
}

/** Adds the optional members that are present. */
function withOptional<Of extends object>(plant: Of & Optional, { tag }: Complete<Optional>): Of {
  if (tag !== undefined) plant.tag = tag;
  return plant;
}

/** Returns whether two plants are the same, apart from their ids. */
export function haveSameContent(a: Readonly<Plant>, b: Readonly<Plant>): boolean {
  const isSame: Record<keyof Plant, boolean> = { name: a.name === b.name, tag: a.tag === b.tag };
  return isSame.name && isSame.tag;
}

/** Returns whether every member but the id is Unicode text. */
export function hasUnicodeTexts({ name, tag }: Readonly<Plant>): boolean {
  const isText: Record<keyof Plant, boolean> = {
    name: isUnicodeText(name),
    tag: tag === undefined || isUnicodeText(tag),
  };
  return isText.name && isText.tag;
}

/**
 * Returns the length of all texts of a plant, in UTF-16 code units.
 *
 * @example
 * ```ts
 * import { textLength } from '@plantstore/core/wire';
 *
 * textLength({ name: 'Monstera', tag: 'climber' }); // 15
 * ```
 */
export function textLength({ name, tag }: Readonly<Plant>): number {
  const lengths: Record<keyof Plant, number> = { name: name.length, tag: tag?.length ?? 0 };
  return lengths.name + lengths.tag;
}

/**
 * Returns a plant without its id as JSON text. Plants have the same content if their texts are
 * equal.
 *
 * @example
 * ```ts
 * import { encodePlant } from '@plantstore/core/wire';
 *
 * encodePlant({ name: 'Monstera', tag: undefined }); // {"name":"Monstera"}
 * ```
 */
export function encodePlant({ name, tag }: Readonly<Plant>): string {
  return JSON.stringify({ name, tag } satisfies Complete<Plant>);
}

/**
 * Returns a new plant as JSON text, with its id as an exact JSON number. Does not validate: pass an
 * id for which {@link isExactId} returns `true`.
 *
 * @example
 * ```ts
 * import { encodeNewPlant } from '@plantstore/core/wire';
 *
 * encodeNewPlant({ id: 9007199254740993n, name: 'Monstera' }); // {"id":9007199254740993,"name":"Monstera"}
 * ```
 */
export function encodeNewPlant(plant: Readonly<Plant> & { readonly id: PlantId }): string {
  const { id, name, tag } = plant;
  // JSON.stringify throws for a bigint. The first 0 in the text is the placeholder of the id.
  const json = JSON.stringify({ id: 0, name, tag } satisfies Complete<Plant> & { id: 0 });
  return json.replace('0', String(id));
}
