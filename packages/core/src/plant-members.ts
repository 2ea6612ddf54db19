// What is done with the members of a plant. `Record` and `Complete` are type errors where one of
// the schema is missing. What each create does is written out, because a loop takes longer.

import type { PlantId } from './exact-id.ts';
import type { NewPlant, Plant } from './plant.ts';
import { isUnicodeText } from './unicode-text.ts';

/** An object with every member of another type; an optional one may be `undefined`. */
type Complete<Of> = { readonly [Member in keyof Required<Of>]: Of[Member] };

type Optional = {
  [Member in keyof Plant as undefined extends Plant[Member] ? Member : never]: Plant[Member];
};

/** A type of members: the one place that defines its values. */
type MemberType<Value> = {
  /** Copies a value, and reads each part of it once. What is no value may remain as it is. */
  readonly copy: <Given>(value: Given) => Given;
  /** Whether every store can keep a value. */
  readonly isValid: (value: unknown) => boolean;
  /**
   * Writes a valid value as text, of which different values have different ones; `undefined` for
   * what is of another type. Does not validate, because each create calls it several times.
   */
  readonly toText: (value: unknown) => string | undefined;
  /** Reads a text. One that no value has remains, so that it is not valid. */
  readonly fromText: (text: string) => Value | string;
};

const text: MemberType<string> = {
  copy: (value) => value,
  isValid: isUnicodeText,
  toText: (value) => (typeof value === 'string' ? value : undefined),
  fromText: (value) => value,
};

/** The type of each member. The id has forms of its own. */
const types = { name: text, tag: text } satisfies {
  [Member in keyof Required<Plant>]: MemberType<Exclude<Plant[Member], undefined>>;
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

/**
 * The names of the members of a plant without its id, in their order.
 *
 * @example
 * ```ts
 * import { contentNames } from '@plantstore/core/wire';
 *
 * contentNames; // ['name', 'tag']
 * ```
 */
export const contentNames = memberNames.filter((name): name is keyof Plant => name !== 'id');

/** Copies each own member, read once; returns `undefined` if the input is not an object. */
export function readMembers(input: unknown): Record<keyof NewPlant, unknown> | undefined {
  try {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
    const { hasOwn } = Object;
    const members = input as Record<keyof NewPlant, unknown>;
    return {
      id: hasOwn(input, 'id') ? members.id : undefined,
      name: hasOwn(input, 'name') ? types.name.copy(members.name) : undefined,
      tag: hasOwn(input, 'tag') ? types.tag.copy(members.tag) : undefined,
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
  return withOptional({ id, name: types.name.copy(name) }, { tag });
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
  return withOptional({ name: types.name.copy(name) }, { tag });
}

/** Adds the optional members that are present. */
function withOptional<Of extends object>(plant: Of & Optional, { tag }: Complete<Optional>): Of {
  if (tag !== undefined) plant.tag = types.tag.copy(tag);
  return plant;
}

/**
 * Returns a member, but the id, whose value no plant can have, or that another plant does not have
 * in common with a plant; `undefined` if both are the same plant.
 */
export function differingMember(plant: Unchecked, another: Unchecked): keyof Plant | undefined {
  const differs = (name: keyof Plant) =>
    types[name].toText(plant[name]) !== types[name].toText(another[name]);
  return invalidMember(plant) ?? contentNames.find(differs);
}

/** Returns the first member, but the id, whose value no plant can have; `undefined` if none has. */
export function invalidMember({ name, tag }: Unchecked): keyof Plant | undefined {
  if (!types.name.isValid(name)) return 'name';
  return tag === undefined || types.tag.isValid(tag) ? undefined : 'tag';
}

/**
 * Returns the members of a plant but the id as texts, for columns and fields; `undefined` for one
 * that is absent, or of another type. Plants have the same content if these are equal.
 *
 * @example
 * ```ts
 * import { toTexts } from '@plantstore/core/wire';
 *
 * toTexts({ name: 'Monstera' }); // { name: 'Monstera', tag: undefined }
 * ```
 */
export function toTexts({ name, tag }: Unchecked): Texts {
  return { name: types.name.toText(name), tag: types.tag.toText(tag) };
}

/**
 * Returns the members of texts that {@link toTexts} wrote. Does not validate: a text that it cannot
 * have written remains as it is.
 *
 * @example
 * ```ts
 * import { fromTexts } from '@plantstore/core/wire';
 *
 * fromTexts({ name: 'Monstera', tag: undefined }); // { name: 'Monstera' }
 * ```
 */
export function fromTexts(texts: Partial<Texts>): Unchecked {
  const members: { -readonly [Member in keyof Unchecked]: Unchecked[Member] } = {};
  for (const name of contentNames) {
    const value = texts[name];
    if (value !== undefined) members[name] = types[name].fromText(value);
  }
  return members;
}

/** What may be the members of a plant but the id. */
type Unchecked = { readonly [Member in keyof Plant]?: unknown };

/** The members of a plant but the id as texts. */
export type Texts = Readonly<Record<keyof Plant, string | undefined>>;

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
 * encodeNewPlant({ id: 7n, name: 'Monstera' }); // {"id":7,"name":"Monstera"}
 * ```
 */
export function encodeNewPlant(plant: Readonly<Plant> & { readonly id: PlantId }): string {
  const { id, name, tag } = plant;
  // JSON.stringify throws for a bigint. The first 0 in the text is the placeholder of the id.
  const json = JSON.stringify({ id: 0, name, tag } satisfies Complete<Plant> & { id: 0 });
  return json.replace('0', String(id));
}
