import type { ErrorName } from '@plantstore/core/errors';

const plant = '{"id":7,"name":"x"}';
const named = (...bytes: readonly number[]) =>
  Buffer.concat([Buffer.from('{"id":7,"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
const hex = (digits: string) => [...Buffer.from(digits.replaceAll(' ', ''), 'hex')];

/** Bytes of a name that are UTF-8, and the name. */
export const utf8: readonly (readonly [bytes: Buffer, name: string])[] = [
  ...[
    '\x7f',
    '\x80',
    '\u07ff',
    '\u0800',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{10ffff}',
  ].map((name) => [named(...Buffer.from(name)), name] as const),
  [Buffer.from(`\ufeff${plant}`), 'x'],
  [named(...Buffer.from('+AOk-')), '+AOk-'],
  [named(...Buffer.from('=C3=A9&#233;%C3%A9')), '=C3=A9&#233;%C3%A9'],
];

/** Bytes of a name that are not UTF-8 (RFC 3629). */
const invalid: readonly (readonly [what: string, bytes: string])[] = [
  ['a lone continuation byte', '80'],
  ['the last continuation byte alone', 'bf'],
  ['a continuation byte after a letter', '61 a9'],
  ['an extra continuation byte', 'c3 a9 a9'],
  ['NUL, overlong in two', 'c0 80'],
  ['a slash, overlong in two', 'c0 af'],
  ['the last overlong of two', 'c1 bf'],
  ['NUL, overlong in three', 'e0 80 80'],
  ['the last overlong of three', 'e0 9f bf'],
  ['NUL, overlong in four', 'f0 80 80 80'],
  ['the last overlong of four', 'f0 8f bf bf'],
  ['a quote, overlong', 'c0 a2'],
  ['a high surrogate', 'ed a0 80'],
  ['a low surrogate', 'ed bf bf'],
  ['a pair of surrogates (CESU-8)', 'ed a0 be ed ba b4'],
  ['the first code point above U+10FFFF', 'f4 90 80 80'],
  ['a code point far above U+10FFFF', 'f7 bf bf bf'],
  ['five bytes', 'f8 88 80 80 80'],
  ['six bytes', 'fc 84 80 80 80 80'],
  ['FE', 'fe'],
  ['FF', 'ff'],
  ['a sequence of two bytes, truncated', 'c3'],
  ['a sequence of three bytes, truncated', 'e2 82'],
  ['a sequence of four bytes, truncated', 'f0 9f aa'],
  ['a start byte after a start byte', 'c3 c3 a9'],
  ['Latin-1', 'e9'],
  ['Windows-1252', '93 78 94'],
  ['Shift JIS', '83 65 83 58 83 67'],
  ['GB 18030', 'd6 b2 ce ef'],
];

const big = (little: Buffer, width: 2 | 4) =>
  width === 2 ? Buffer.from(little).swap16() : Buffer.from(little).swap32();
const utf16 = Buffer.from(plant, 'utf16le');
const utf32 = Buffer.from(Uint32Array.from(Buffer.from(plant)).buffer);

/** Bodies in another encoding. */
export const otherEncodings: readonly (readonly [what: string, body: Buffer, row: ErrorName])[] = [
  ...invalid.map(([what, bytes]) => [what, named(...hex(bytes)), 'encoding-invalid'] as const),
  [
    'invalid in an unknown member',
    Buffer.from(`{"\xff":1,${plant.slice(1)}`, 'latin1'),
    'encoding-invalid',
  ],
  ['invalid after the plant', Buffer.from(`${plant}\xff`, 'latin1'), 'encoding-invalid'],
  ['invalid in malformed JSON', Buffer.from(`{{{{\x80`, 'latin1'), 'encoding-invalid'],
  [
    'truncated at the end of the body',
    Buffer.from(`${plant}\xf0\x9f\xaa`, 'latin1'),
    'encoding-invalid',
  ],
  ['half a byte order mark', Buffer.from(`\xef\xbb${plant}`, 'latin1'), 'encoding-invalid'],
  ['UTF-16LE with a byte order mark', Buffer.from([0xff, 0xfe, ...utf16]), 'encoding-invalid'],
  [
    'UTF-16BE with a byte order mark',
    Buffer.from([0xfe, 0xff, ...big(utf16, 2)]),
    'encoding-invalid',
  ],
  [
    'UTF-32LE with a byte order mark',
    Buffer.from([0xff, 0xfe, 0, 0, ...utf32]),
    'encoding-invalid',
  ],
  [
    'UTF-32BE with a byte order mark',
    Buffer.from([0, 0, 0xfe, 0xff, ...big(utf32, 4)]),
    'encoding-invalid',
  ],
  ['UTF-16LE', utf16, 'json-malformed'],
  ['UTF-16BE', big(utf16, 2), 'json-malformed'],
  ['UTF-32LE', utf32, 'json-malformed'],
  ['UTF-32BE', big(utf32, 4), 'json-malformed'],
  ['UTF-7', Buffer.from('+AHsAIg-id+ACI:7+AH0-'), 'json-malformed'],
];

/** Media types that are JSON, with any parameters. */
export const jsonTypes: readonly string[] = [
  'application/json',
  'APPLICATION/Json',
  'application/json;',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-16',
  'application/json ; charset="latin1"; q=1',
  'application/json\t; charset',
  'application/json;;;',
  'application/json; text/plain',
  'application/json; charset="a, b\\"; c"',
];

/** Media types that are not JSON. */
export const otherTypes: readonly string[] = [
  ['', ';', 'json', 'text/json', 'text/plain', 'application/*', '*/*', 'application', '/json'],
  ['application/jsonp', 'application/json5', 'application/x-json', 'application/ld+json'],
  ['application/problem+json', 'application/json-seq', 'application/x-www-form-urlencoded'],
  ['multipart/form-data; boundary=application/json', 'text/plain; application/json'],
  ['application/json, text/plain', 'application/json,', 'application/json charset=utf-8'],
  ['application/json; charset=utf-8, application/json; charset=utf-8', 'application/json;,'],
  ['application /json', 'application/ json', '"application/json"', 'application/json\xa0'],
  ['applic\xe4tion/json', 'application\\json', 'application/json/'],
].flat();
