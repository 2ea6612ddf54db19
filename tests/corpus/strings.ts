/** JSON strings, and their values, which are stored and returned unchanged. */
export const texts: readonly (readonly [what: string, source: string, text: string])[] = [
  ['the empty text', '""', ''],
  ['spaces at both ends', '"  x \u00a0"', '  x \u00a0'],
  ['every short escape', String.raw`"\"\\\/\b\f\n\r\t"`, '"\\/\b\f\n\r\t'],
  ['a slash without escape', '"/"', '/'],
  ['an escape in lower case', String.raw`"\u00e9"`, 'é'],
  ['an escape in upper case', String.raw`"\u00E9"`, 'é'],
  ['an escaped letter', String.raw`"\u0041"`, 'A'],
  ['every escaped control but U+0000', JSON.stringify(controls(1)), controls(1)],
  ['an escaped backslash before u0000', String.raw`"\\u0000"`, String.raw`\u0000`],
  ['DEL and the C1 controls', '"\u007f\u0080\u0085\u009f"', '\u007f\u0080\u0085\u009f'],
  ['the line separators', '"\u2028\u2029"', '\u2028\u2029'],
  ['a byte order mark inside', '"x\ufeffy"', 'x\ufeffy'],
  ['a byte order mark first', '"\ufeffx"', '\ufeffx'],
  ['an escaped byte order mark', String.raw`"\ufeff"`, '\ufeff'],
  ['composed (NFC)', '"\u00e9"', '\u00e9'],
  ['decomposed (NFD)', '"e\u0301"', 'e\u0301'],
  ['a compatibility form', '"\ufb01\u212b"', '\ufb01\u212b'],
  ['a plant', '"🪴"', '🪴'],
  ['a surrogate pair', String.raw`"\ud83e\udeb4"`, '🪴'],
  ['a surrogate pair in upper case', String.raw`"\uD83E\uDEB4"`, '🪴'],
  [
    'the first and last surrogate pairs',
    String.raw`"\ud800\udc00\udbff\udfff"`,
    '\u{10000}\u{10ffff}',
  ],
  ['noncharacters', '"\ufdd0\ufffe\uffff\u{1ffff}"', '\ufdd0\ufffe\uffff\u{1ffff}'],
  ['the replacement character', '"\ufffd"', '\ufffd'],
  ['zero widths and directions', '"\u200b\u200d\u202e\u2066"', '\u200b\u200d\u202e\u2066'],
  ['JSON in a text', String.raw`"{\"id\":1e400}"`, '{"id":1e400}'],
  ['HTML and SQL', `"<b>'); DROP TABLE plants; --"`, "<b>'); DROP TABLE plants; --"],
  ['the name of an Object member', '"__proto__"', '__proto__'],
  ['a string of about a megabyte', `"${'é'.repeat(520_000)}"`, 'é'.repeat(520_000)],
];

/** JSON strings that not every store can keep, and values that are not strings. */
export const noTexts: readonly (readonly [what: string, source: string])[] = [
  ['U+0000', String.raw`"\u0000"`],
  ['U+0000 in a text', String.raw`"a\u0000b"`],
  ['a high surrogate', String.raw`"\ud83e"`],
  ['a low surrogate', String.raw`"\udeb4"`],
  ['two high surrogates', String.raw`"\ud83e\ud83e"`],
  ['two low surrogates', String.raw`"\udeb4\udeb4"`],
  ['a surrogate pair in the wrong order', String.raw`"\udeb4\ud83e"`],
  ['a surrogate pair with a space between', String.raw`"\ud83e \udeb4"`],
  ['a high surrogate after a pair', String.raw`"\ud83e\udeb4\ud83e"`],
  ['a high surrogate before a plant', String.raw`"\ud83e🪴"`],
  ['a number', '7'],
  ['null', 'null'],
  ['a boolean', 'true'],
  ['an array', '["x"]'],
  ['an object', '{"name":"x"}'],
];

/** Invalid JSON strings (RFC 8259 §7). */
export const noStrings: readonly (readonly [what: string, source: string])[] = [
  ...Array.from({ length: 0x20 }, (_, code): [string, string] => [
    `raw control ${code}`,
    `"a${String.fromCharCode(code)}b"`,
  ]),
  ...[
    [String.raw`"\x41"`, String.raw`"\0"`, String.raw`"\'"`, String.raw`"\a"`, String.raw`"\v"`],
    [String.raw`"\U0041"`, String.raw`"\u12"`, String.raw`"\u{41}"`, String.raw`"\u 041"`],
    [String.raw`"\u-041"`, String.raw`"\u00g1"`, String.raw`"\ "`, '"\\\n"', String.raw`"x\"`],
    ['"x', 'x"', "'x'", '`x`', 'x', '“x”', '""x""', '"x" "y"', '"x"+"y"', '@"x"', 'b"x"'],
  ]
    .flat()
    .map((source): [string, string] => [source, source]),
];

function controls(from: number): string {
  return String.fromCharCode(...Array.from({ length: 0x20 - from }, (_, index) => from + index));
}
