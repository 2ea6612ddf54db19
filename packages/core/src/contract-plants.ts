import * as z from 'zod';
import { parseNewPlant } from './parse-new-plant.ts';
import type { Plant } from './plant.ts';
import { Plant as schema } from './schemas.ts';

type Member = keyof Plant;

/** The members of a plant without its id. */
export const members = Object.keys(schema.shape) as readonly Member[];

/** A plant with every member. */
export const complete = members.reduce(
  (plant, member) => withText(plant, member, textsOf(member)[0]),
  {} as Plant,
);
const smallest: Plant = { name: 'a' };

/** Int64s that a store may round or truncate. */
export const ids: readonly bigint[] = [0n, 31n, 53n, 63n]
  // A target below ES2016 makes Math.pow of `**`, which throws for a bigint.
  .flatMap((bits) => [-1n, 0n, 1n].flatMap((more) => [more - (1n << bits), more + (1n << bits)]))
  .filter((id, index, all) => BigInt.asIntN(64, id) === id && all.indexOf(id) === index);

/** Texts that a store may change, or confuse with each other. */
export const texts: readonly string[] = [
  ['', 'Monstera', 'monstera'],
  ['\u00e9', 'e\u0301', 'e', '\u212b', '\u00c5'],
  ['🪴', '👩‍🌾', '\uffff\u{10ffff}', '\u202eהערב\u202c'],
  ['7', '7.0', '007', "'; DROP TABLE plants; --", '\\N\t"{},'],
  ['x'.repeat(100_000), `${'x'.repeat(99_999)}y`],
].flat();

/** Control characters, punctuation, and characters outside ASCII, Latin-1 or the basic plane. */
const characters = [
  '\r\n',
  ...Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1)),
  ...Array.from(
    '\u0085\u00a0\u00ad\u0141\u200b\u200d\u2019\u2028\ufe0f\ufeff\ufffd\uffff\u{10041}🪴',
  ),
].filter((character) => !/[a-z\d]/i.test(character));

const similarTexts: readonly (readonly [string, string])[] = [
  ...characters.flatMap((character) => [
    ...replacementsOf(character).map((text) => [`a${character}b`, `a${text}b`] as const),
    [`a${character}`, 'a'] as const,
    [`${character}a`, 'a'] as const,
  ]),
  ['a\r\nb', 'a\nb'],
  ['a\rb', 'a\nb'],
  ['\u2019', "'"],
  ['&amp;', '&'],
  // Equal in hashes of 32 bits: that of Java, and CRC.
  ['Aa', 'BB'],
  ['plumless', 'buckeroo'],
];

const separators = ['', '","', ...characters];
const longSeparators = characters.flatMap((one) => [one + one, `${one} `, ` ${one} `, `${one}1`]);

/** Texts that a store may write in place of an absent one. */
const absentTexts = ['', ...'- 0 false undefined null NULL None nil \\N (null)'.split(' ')];

/**
 * Pairs of plants that a store may confuse, because it ignores or changes a member, or joins two.
 */
export const similarPlants = members
  .flatMap((member, index) => [
    ...differing(smallest, member, [
      ...valuePairs(member),
      ...similarTexts.map((pair) => pair.map((text) => valueOf(member, text))),
    ]),
    ...differing(complete, member, valuePairs(member)),
    ...members.slice(index + 1).flatMap((next) => {
      const between = index === 0 ? [...separators, ...longSeparators] : separators;
      const plantOf = (one?: string, other?: string) =>
        withMember(withText(smallest, member, one), next, valueOf(next, other));
      return joinedTexts(textsOf(member)[0], textsOf(next)[0], between).map(
        ([one, other, third, fourth]) => [plantOf(one, other), plantOf(third, fourth)],
      );
    }),
  ])
  .filter((pair) => pair.every(isPlant)) as unknown as readonly (readonly [Plant, Plant])[];

/** Plants that fail validation. */
export const notPlants: readonly unknown[] = [
  { id: 1n << 63n, name: 'Monstera' },
  { id: -(1n << 63n) - 1n, name: 'Monstera' },
  { id: (1n << 64n) + 7n, name: 'Monstera' },
  { id: 7, name: 'Monstera' },
  { id: '7', name: 'Monstera' },
  { name: 'Monstera' },
  { id: 7n },
  ...members.flatMap((member) =>
    ['\ud800', '\udfff', '\0', 'Monstera\0']
      .flatMap((text) => [text, [text]])
      .concat([7, null, {}, [7], [null], Array(1)] as never[])
      .concat([Array.from({ length: (schemaOf(member).maxItems ?? 0) + 1 }, () => 'a')])
      .map((value) => ({ id: 7n, ...withMember(complete, member, value) })),
  ),
];

/** Returns a plant with another value of a member. */
export function withMember<Of extends Plant>(plant: Of, member: Member, value: unknown): Of {
  return { ...plant, [member]: value };
}

/** Returns plants with those values that a member can have. */
export function plantsWith(member: Member, values: readonly string[]): readonly Plant[] {
  return values.map((value) => withText(smallest, member, value)).filter(isPlant);
}

function isPlant(plant: Plant): boolean {
  return parseNewPlant({ id: 0n, ...plant }).isOk();
}

function withText(plant: Plant, member: Member, text: string | undefined): Plant {
  return withMember(plant, member, valueOf(member, text));
}

/** Returns the value of a member that has only this text in it. */
function valueOf(member: Member, text: string | undefined): unknown {
  const { type = 'any' } = schemaOf(member);
  if (type === 'string' || text === undefined) return text;
  if (type === 'array') return [text];
  throw new TypeError(`the contract has no values of the type ${type as string} of ${member}`);
}

/** Returns the texts of a member that has a list of them, or two texts. */
function textsOf(member: Member): readonly [string, ...string[]] {
  return (schemaOf(member).enum ?? ['a', 'b']) as [string, string];
}

function schemaOf(member: Member) {
  return z.toJSONSchema(schema.shape[member], { io: 'input', unrepresentable: 'any' });
}

/** Returns the texts that a store may write or read in place of a character. */
function replacementsOf(one: string): readonly string[] {
  const code = one.codePointAt(0) ?? 0;
  const low = [0x7f, 0xff, 0xffff].map((mask) => String.fromCharCode(code & mask || 32));
  const escaped = [`\\${one}`, `&#${code};`, encodeURI(one), JSON.stringify(one).slice(1, -1)];
  const changed = ['', ' ', '?', '\ufffd', one + one, one.normalize('NFKD')];
  return [...low, ...escaped, ...changed].filter((text) => text !== one);
}

function differing(plant: Plant, member: Member, pairs: readonly (readonly unknown[])[]) {
  return pairs.map((pair) => pair.map((value) => withMember(plant, member, value)));
}

function valuePairs(member: Member) {
  const values = valuesOf(member);
  return values.flatMap((one, at) => values.slice(at + 1).map((other) => [one, other]));
}

/** Returns no value and values of a member, of which a store may take one for another. */
function valuesOf(member: Member): readonly unknown[] {
  const values = [undefined, ...textsOf(member), ...absentTexts].map((text) =>
    valueOf(member, text),
  );
  if (schemaOf(member).type !== 'array') return values;
  const lists = [[], ['a', 'b'], ['b', 'a'], ['a', 'a'], ['a,', 'b'], ['a', ',b'], ['["a"]']];
  return [...values, ...lists, ...['', ',', ', ', '","', "','", '\n'].map((one) => [`a${one}b`])];
}

/** Texts of two members in two plants, which a store may confuse as it joins or exchanges them. */
function joinedTexts(one: string, other: string, between: readonly string[]) {
  return [
    ...between.flatMap((separator) => [
      [`${one}${separator}${other}`, undefined, one, other],
      [undefined, `${one}${separator}${other}`, one, other],
      [`${one}${separator}b`, 'c', one, `b${separator}c`],
    ]),
    ['a,b', undefined, 'a\\', 'b'],
    ['a', 'b', 'b', 'a'],
    ...[one, other].map((text) => [text, undefined, undefined, text]),
  ];
}

/** Changes what is inside of a value, if anything is. */
export function changeInside(value: unknown): void {
  if (Array.isArray(value)) value.splice(0, 1, 'another', 'one');
}
