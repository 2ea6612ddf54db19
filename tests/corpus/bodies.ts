import type { ErrorName } from '@plantstore/core/errors';

/** The plant that a body creates. */
export type Created = {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string | undefined;
};
type Valid = readonly [body: string | Buffer, created: Created];
type Invalid = readonly [error: ErrorName, ...bodies: (string | Buffer)[]];

const zeros = '0'.repeat(100_000);
const nines = '9'.repeat(100_000);
const [max, min] = [2n ** 63n - 1n, -(2n ** 63n)];

const x: Created = { id: 7n, name: 'x' };
const members = '"id":7,"name":"x"';
const plant = `{${members}}`;
const withId = (source: string) => `{"id":${source},"name":"x"}`;
const withName = (source: string) => `{"id":7,"name":${source}}`;
const withTag = (source: string) => `{${members},"tag":${source}}`;
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const nested = (open: string, close: string, depth: number) =>
  `{${members},"x":${open.repeat(depth - 1)}0${close.repeat(depth - 1)}}`;

/** Spellings of an id, and its exact value. */
const ids: readonly (readonly [id: bigint, ...sources: string[]])[] = [
  [0n, '0', '-0', '0.0', '-0.0', '0e400', '0e-400', '-0E+999999999', `0e${nines}`, '0.000e5'],
  [7n, '7', '7.0', `7.${zeros}`, '7e-0', '70e-1', '7000.000e-3', '0.7e1', '0.0007e4'],
  [-7n, '-7', '-70e-1'],
  [7000n, '7e3', '7E3', '7e+3', '7e003'],
  [1n, `1${zeros}e-100000`, `0.${zeros}1e100001`],
  [999_999_999_999_999n, '999999999999999'],
  [2n ** 53n - 1n, '9007199254740991'],
  [2n ** 53n, '9007199254740992', '9007199254740992.0'],
  [2n ** 53n + 1n, '9007199254740993', '9007199254740993.0', '9.007199254740993e15'],
  [-(2n ** 53n) - 1n, '-9007199254740993', '-90071992547409930e-1'],
  [10n ** 18n, '1e18'],
  [max, '9223372036854775807', '9223372036854775807.000', '9.223372036854775807e18'],
  [max, '0.009223372036854775807e21', '92233720368547758070e-1', `${max}${zeros}e-100000`],
  [min, '-9223372036854775808', '-9.223372036854775808E+18'],
];

/** Strings of JSON, which are kept as they are. */
const texts: readonly string[] = [
  ['""', '"  x \u00a0"', '"/"', '"\u007f\u0080\u0085\u009f"', '"\u2028\u2029"', '"__proto__"'],
  [String.raw`"\"\\\/\b\f\n\r\t"`, String.raw`"\u00e9\u00E9\u0041"`, String.raw`"\\u0000"`],
  [JSON.stringify(String.fromCharCode(...Array.from({ length: 31 }, (_, code) => code + 1)))],
  ['"\ufeffx\ufeff"', String.raw`"\ufeff"`, '"\u00e9"', '"e\u0301"', '"\ufb01\u212b"', '"🪴"'],
  [String.raw`"\ud83e\udeb4"`, String.raw`"\uD800\uDC00\udbff\udfff"`, '"\ufdd0\uffff\u{1ffff}"'],
  ['"\ufffd"', '"\u200b\u200d\u202e"', String.raw`"{\"id\":1e400}"`, `"'); DROP TABLE plants; --"`],
  [`"${'é'.repeat(520_000)}"`, '"\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}"'],
].flat();

/** Bodies that are a plant. */
export const plants: readonly Valid[] = [
  ...ids.flatMap(([id, ...sources]) =>
    sources.map((source): Valid => [withId(source), { id, name: 'x' }]),
  ),
  ...texts.flatMap((source): Valid[] => {
    const text = JSON.parse(source) as string;
    return [
      [withName(source), { id: 7n, name: text }],
      [withTag(source), { ...x, tag: text }],
    ];
  }),
  [`\ufeff${plant}`, x],
  ['\t\n\r {\t\n\r "id"\t\n\r :\t\n\r 7\t\n\r ,"name" : "x" }\t\n\r ', x],
  // The last of repeated members counts.
  [`{"id":"x","id":1.5,"name":null,${members}}`, x],
  [`{"id":9007199254740993,${members}}`, x],
  [`{${members},"id":9007199254740993}`, { ...x, id: 2n ** 53n + 1n }],
  [String.raw`{${members},"\u0069d":8,"n\u0061me":"y"}`, { id: 8n, name: 'y' }],
  [`{"tag":1,${members},"tag":"y","tag":""}`, { ...x, tag: '' }],
  // Other members are ignored.
  [`{"a":null,"b":[1,{"c":[]}],"":1,${members},"d":1e400,"e":"\\ud800"}`, x],
  [`{"x":{"id":1.5},"y":[{"id":"z"}],${members}}`, x],
  ['{"x":{"id":1},"id":9007199254740993,"name":"x"}', { ...x, id: 2n ** 53n + 1n }],
  [`{"__proto__":{"tag":"evil","id":1},${members},"__proto__":null}`, x],
  [
    `{"constructor":{"prototype":{"tag":"y"}},"toJSON":3,"hasOwnProperty":2,"then":4,${members}}`,
    x,
  ],
  [nested('[', ']', 500), x],
  [nested('{"a":', '}', 500), x],
  [`{${members},"x":"${'[{'.repeat(10_000)}"}`, x],
  [`{${'"id":1,'.repeat(50_000)}${members}}`, x],
];

/** Texts that not every store can keep, and values that are no text. */
const noTexts: readonly string[] = [
  [String.raw`"\u0000"`, String.raw`"a\u0000b"`, String.raw`"\ud83e"`, String.raw`"\udeb4"`],
  [String.raw`"\ud83e\ud83e"`, String.raw`"\udeb4\ud83e"`, String.raw`"\ud83e \udeb4"`],
  [String.raw`"\ud83e🪴"`, String.raw`"\ud83e\udeb4\ud83e"`, '7', 'null', 'true', '["x"]', '{}'],
].flat();

/** Values that are not JSON. */
const noValues: readonly string[] = [
  ['07', '-07', '+1', '.5', '1.', '1.e3', '-', '- 1', '1e', '1e+', '1e1.5', '0x1', '1_000', '1n'],
  [
    'NaN',
    '-Infinity',
    'undefined',
    '\u0667',
    '\u22121',
    '1\u00a0',
    "'7'",
    `-${zeros}`,
    `${nines}.`,
  ],
  [
    String.raw`"\x41"`,
    String.raw`"\0"`,
    String.raw`"\'"`,
    String.raw`"\u12"`,
    String.raw`"\u{41}"`,
  ],
  ['"\t"', '"\x1f"', '"\\\n"', '"x', 'x"', 'x', '“x”', '"x" "y"'],
].flat();

/** Bodies that are no plant, by their error. */
export const noPlants: readonly Invalid[] = [
  ['body-missing', ''],
  ['json-malformed', ...noValues.flatMap((source) => [withId(source), withName(source)])],
  ['json-malformed', '{', '[}', '{"id"}', '{"id":}', `{${members},}`, '{"id":7 "name":"x"}', '\0'],
  ['json-malformed', '{id:7,"name":"x"}', '{"x":[1,]}', `{// c\n${members}}`, `)]}'\n${plant}`],
  ['json-malformed', `${plant}${plant}`, `${plant},`, `${plant}\0`, `\x1e${plant}`, ' ', 'TRUE'],
  ['json-malformed', `{\u00a0${members}}`, `${plant}\v`, '\ufeff', `\ufeff\ufeff${plant}`],
  ['json-malformed', nested('[', ']', 501), nested('{"a":', '}', 501), '['.repeat(1_000_000)],
  ['json-malformed', ...Array.from(plant.slice(1), (_, index) => plant.slice(0, index + 1))],
  // UTF-16 and UTF-7 without a byte order mark are UTF-8, but not JSON.
  ['json-malformed', Buffer.from(plant, 'utf16le'), '+AHsAIg-id+ACI:7+AH0-'],
  ['encoding-invalid', Buffer.from(`\ufeff${plant}`, 'utf16le'), latin1(`\xef\xbb${plant}`)],
  // A lone continuation byte, overlong forms, surrogates, above U+10FFFF, truncated sequences.
  [
    'encoding-invalid',
    ...['80', 'c3a9a9', 'c080', 'e08080', 'f08fbfbf', 'eda080', 'edbfbf', 'eda0beedbab4']
      .concat('f4908080', 'f888808080', 'fe', 'c3', 'e282', 'f09faa', 'e9', '937894')
      .map((hex) =>
        Buffer.concat([Buffer.from('{"a":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]),
      ),
  ],
  ['encoding-invalid', latin1(`{"\xff":1,${members}}`), latin1(`${plant}\xf0\x9f\xaa`)],
  [
    'body-not-object',
    'null',
    'true',
    '7',
    '1e400',
    '"{}"',
    '[]',
    `[${plant}]`,
    `${'['.repeat(500)}${']'.repeat(500)}`,
  ],
  ['id-required', '{}', '{"name":"x"}', '{"ID":7,"name":"x"}', '{"id\\u0000":7}', `{"x":${plant}}`],
  ['id-required', '{"__proto__":{"id":7,"name":"x"}}', '{"tag":null}', '{"\ufeffid":7}'],
  [
    'id-not-integer',
    ...['1.5', '0.1', '1e-1', '7.01e1', '1e-400', '1e-999999999', `1e-${nines}`, `${nines}e-1`]
      .concat('1.0000000000000000001', '9223372036854775807.5', '0.99999999999999999')
      .concat('10000000000000000001e-1', `-0.${zeros}1`, `7.${zeros}1`, `1${zeros}e-100001`)
      .concat('"7"', '""', 'true', 'null', '[7]', '{}')
      .map(withId),
    '{"id":1.5,"tag":7}',
  ],
  [
    'id-out-of-range',
    ...['9223372036854775808', '-9223372036854775809', '9223372036854775808.0', '9.3e18', '-1e19']
      .concat('18446744073709551616', '1e400', '-1e400', '1e999999999', `1e${nines}`, '0.1e400')
      .concat('184467440737095516160e-1', nines, `-${nines}`, `1${zeros}.0`)
      .map(withId),
  ],
  ['name-required', '{"id":7}', '{"id":7,"Name":"x","tag":7}', '{"id":7,"__proto__":{"name":"x"}}'],
  ['name-not-text', ...noTexts.map(withName), '{"id":7,"name":7,"tag":7}'],
  ['tag-not-text', ...noTexts.map(withTag), `{${members},"tag":"y","tag":null}`],
];
