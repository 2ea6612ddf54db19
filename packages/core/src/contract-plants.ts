import * as z from 'zod';
import { parseNewPlant } from './parse-new-plant.ts';
import type { Plant } from './plant.ts';
import { Plant as schema } from './schemas.ts';

type Member = keyof Plant;

/** The members of a plant without its id. */
export const members = Object.keys(schema.shape) as readonly Member[];

/** Int64s that a store may round or truncate. */
export const ids: readonly bigint[] = [0n, 31n, 53n, 63n]
  // A target below ES2016 makes Math.pow of `**`, which throws for a bigint.
  .flatMap((bits) => [-1n, 0n, 1n].flatMap((more) => [more - (1n << bits), more + (1n << bits)]))
  .filter((id, index, all) => BigInt.asIntN(64, id) === id && all.indexOf(id) === index);

/** Texts that a store may change, confuse with each other, or write in place of an absent one. */
const texts: readonly string[] = [
  ['Monstera', 'monstera', 'Monstera deliciosa', '', ' ', '7', '7.0', '007'],
  '- 0 false undefined null NULL None nil \\N (null)'.split(' '),
  ['\u00e9', 'e\u0301', 'e', '\u212b', '\u00c5', '🪴', '👩‍🌾', '\u202eהערב\u202c'],
  // Equal in their low 7, 8 or 16 bits, or in hashes of 32 bits: that of Java, and CRC.
  ['A', '\u00c1', '\u0141', '\u{10041}', 'Aa', 'BB', 'plumless', 'buckeroo'],
  ['a\r\nb', 'a\nb', 'a\\nb', 'a\rb', 'a\u0001b', 'a\\u0001b', 'a b', 'a%20b', 'a+b'],
  ['\u2019', "'", '&amp;', '&', "'; DROP TABLE plants; --"],
].flat();

/** Characters outside ASCII, some of them outside Latin-1 or the basic plane. */
const others = Array.from(
  '\u0085\u00a0\u00ad\u200b\u200d\u2019\u2028\ufe0f\ufeff\ufffd\u{10041}🪴',
);
const characters = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1))
  .filter((character) => !/[a-z\d]/i.test(character))
  .concat(others);

/** Texts of which a store may make the same, because it removes, trims or replaces a character. */
const similarTexts = [
  ['x'.repeat(100_000), `${'x'.repeat(99_999)}y`],
  ['a  b', 'a b'],
  ...characters.flatMap((one) => ['ab', 'a b'].map((text) => [`a${one}b`, text])),
  ...characters.flatMap((one) => [`a${one}`, `${one}a`].map((text) => [text, 'a'])),
  ...others.flatMap((one) => ['a?b', 'a\ufffdb'].map((text) => [`a${one}b`, text])),
].filter(([one, other]) => one !== other);

const separators = ['', '","', '\r\n', '::', '||', ', ', ' - ', ' / ', ' | ', ...characters];

/** A plant with every member. */
export const complete = members.reduce(
  (plant, member) => withMember(plant, member, valuesOf(schemaOf(member))[0]),
  {} as Plant,
);
const smallest: Plant = { name: 'a' };

/**
 * Pairs of plants that a store may confuse, because it ignores or changes a member, or joins two.
 */
export const similarPlants = members
  .flatMap((member, index) => [
    ...pairsOf(member),
    ...similarTexts.map((pair) => pair.map((text) => withText(smallest, member, text))),
    ...members.slice(index + 1).flatMap((next) => joinedPairs(member, next)),
  ])
  .filter((pair) => pair.every(isPlant)) as unknown as readonly (readonly [Plant, Plant])[];

/** Plants that fail validation. */
export const notPlants: readonly unknown[] = [
  ...[1n << 63n, -(1n << 63n) - 1n, (1n << 64n) + 7n, 7, '7', undefined].map((id) => ({
    id,
    ...complete,
  })),
  ...members.flatMap((member) => {
    const wrongTexts = ['\ud800', '\udfff', '\0', 'Monstera\0'];
    const tooMany = Array((schemaOf(member).maxItems ?? 0) + 1).fill('a');
    return [undefined, 7, null, {}, [7], [null], tooMany, ...wrongTexts]
      .concat(wrongTexts.map((text) => [text]))
      .map((value) => ({ id: 7n, ...withMember(complete, member, value) }))
      .filter((plant) => !isPlant(plant));
  }),
];

/** Returns a plant with each value that the contract has for a member, and one without it. */
export function plantsWith(member: Member): readonly Plant[] {
  return [undefined, ...valuesOf(schemaOf(member))]
    .map((value) => withMember(complete, member, value))
    .filter(isPlant);
}

/** Returns a plant with another value of a member. */
export function withMember<Of extends Plant>(plant: Of, member: Member, value: unknown): Of {
  return { ...plant, [member]: value };
}

/** Changes what is inside of a value, if anything is. */
export function changeInside(value: unknown): void {
  if (Array.isArray(value)) value.splice(0, 1, 'another', 'one');
}

type JsonSchema = Pick<z.core.JSONSchema.JSONSchema, 'type' | 'enum' | 'items' | 'maxItems'>;

function schemaOf(member: Member): JsonSchema {
  return z.toJSONSchema(schema.shape[member], { io: 'input', unrepresentable: 'any' });
}

/** Returns values of a type, of which a store may take one for another. */
function valuesOf({ type, enum: list, items }: JsonSchema): readonly unknown[] {
  if (list !== undefined) return list;
  if (type === 'string') return texts;
  if (type !== 'array') throw new TypeError(`the contract has no values of type ${String(type)}`);
  const values = valuesOf(items as JsonSchema);
  const [one, other] = values;
  const lists = [[one, other], [other, one], [one, one], []];
  const joined = separators.map((separator) => [`${one as string}${separator}${other as string}`]);
  return [...values.map((value) => [value]), ...lists, ...joined];
}

/** Returns pairs of plants that differ in one member alone. */
function pairsOf(member: Member): readonly (readonly Plant[])[] {
  const plants = plantsWith(member);
  return plants.slice(1).map((plant, index) => [plants[index] as Plant, plant]);
}

/** Returns pairs of plants of which a store may make the same, because it joins two members. */
function joinedPairs(member: Member, next: Member): readonly (readonly Plant[])[] {
  const plantOf = (one?: string, other?: string) =>
    withText(withText(smallest, member, one), next, other);
  const [one, other] = [firstText(member), firstText(next)];
  return [
    ...separators.flatMap((separator) => [
      [plantOf(`${one}${separator}${other}`), plantOf(one, other)],
      [plantOf(`${one}${separator}b`, 'c'), plantOf(one, `b${separator}c`)],
    ]),
    [plantOf('a,b'), plantOf('a\\', 'b')],
    [plantOf('a', 'b'), plantOf('b', 'a')],
    ...[one, other].map((text) => [plantOf(text), plantOf(undefined, text)]),
  ];
}

/** Returns the text of the first value of a member. */
function firstText(member: Member): string {
  return [valuesOf(schemaOf(member))[0]].flat(Infinity)[0] as string;
}

/** Returns a plant with a member that has only this text in it. */
function withText(plant: Plant, member: Member, text: string | undefined): Plant {
  const isList = schemaOf(member).type === 'array' && text !== undefined;
  return withMember(plant, member, isList ? [text] : text);
}

function isPlant(plant: Plant): boolean {
  return parseNewPlant({ id: 0n, ...plant }).isOk();
}
