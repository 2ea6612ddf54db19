import type { Plant } from './plant.ts';

/** Int64s that a store may round or truncate. */
export const ids: readonly bigint[] = [0n, 31n, 53n, 63n]
  .flatMap((bits) => [-1n, 0n, 1n].flatMap((more) => [more - 2n ** bits, more + 2n ** bits]))
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

/** Returns the texts that a store may write or read in place of a character. */
const replacementsOf = (one: string): readonly string[] => {
  const code = one.codePointAt(0) ?? 0;
  const low = [0x7f, 0xff, 0xffff].map((mask) => String.fromCharCode(code & mask || 32));
  const escaped = [`\\${one}`, `&#${code};`, encodeURI(one), JSON.stringify(one).slice(1, -1)];
  const changed = ['', ' ', '?', '\ufffd', one + one, one.normalize('NFKD')];
  return [...low, ...escaped, ...changed].filter((text) => text !== one);
};

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

const separators = characters
  .flatMap((one) => [one, one + one, `${one} `, ` ${one} `, `${one}1`])
  .concat('', '","');

/** Texts that a store may write in place of no tag, and other tags. */
const tags = [
  '',
  'a',
  '-',
  '0',
  'false',
  'undefined',
  'null',
  'NULL',
  'None',
  'nil',
  '\\N',
  '(null)',
];

const plantOf = (name: string, tag?: string): Plant =>
  tag === undefined ? { name } : { name, tag };

/** Pairs of contents that a store may confuse, because it changes a text, or joins a name and a tag. */
export const similarPlants: readonly (readonly [Plant, Plant])[] = [
  ...similarTexts.flatMap(([one, other]): [Plant, Plant][] => [
    [plantOf(one), plantOf(other)],
    [plantOf('a', other), plantOf('a', one)],
  ]),
  ...separators.flatMap((separator): [Plant, Plant][] => [
    [plantOf(`a${separator}b`), plantOf('a', 'b')],
    [plantOf(`a${separator}b`, 'c'), plantOf('a', `b${separator}c`)],
  ]),
  ...tags.map((tag): [Plant, Plant] => [plantOf('a'), plantOf('a', tag)]),
  [plantOf('a,b'), plantOf('a\\', 'b')],
  [plantOf('a', 'b'), plantOf('b', 'a')],
  [plantOf('a', 'c'), plantOf('b', 'c')],
];

/** Plants that fail validation. */
export const notPlants: readonly unknown[] = [
  { id: 2n ** 63n, name: 'Monstera' },
  { id: -(2n ** 63n) - 1n, name: 'Monstera' },
  { id: 2n ** 64n + 7n, name: 'Monstera' },
  { id: 7, name: 'Monstera' },
  { id: '7', name: 'Monstera' },
  { name: 'Monstera' },
  { id: 7n },
  { id: 7n, name: 7 },
  { id: 7n, name: '\ud800' },
  { id: 7n, name: 'Monstera\0' },
  { id: 7n, name: 'Monstera', tag: null },
  { id: 7n, name: 'Monstera', tag: '\udfff' },
  { id: 7n, name: 'Monstera', tag: '\0' },
];
