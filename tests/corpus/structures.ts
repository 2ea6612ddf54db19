import type { ErrorName } from '@plantstore/core/errors';

/** The plant that a body creates. */
export type Created = { readonly id: bigint; readonly name: string; readonly tag?: string };

const x = { id: 7n, name: 'x' };
const members = '"id":7,"name":"x"';
const plant = `{${members}}`;
const nested = (open: string, close: string, depth: number) =>
  `{${members},"x":${open.repeat(depth - 1)}0${close.repeat(depth - 1)}}`;

/** Bodies that are valid plants. */
export const plants: readonly (readonly [what: string, body: string, created: Created])[] = [
  ['a plant', plant, x],
  ['a plant with a tag', `{${members},"tag":"y"}`, { ...x, tag: 'y' }],
  ['another order', '{"tag":"y","name":"x","id":7}', { ...x, tag: 'y' }],
  ['every kind of space', '\t\n\r {\t\n\r "id"\t\n\r :\t\n\r 7\t\n\r ,"name" : "x" }\t\n\r ', x],
  ['a repeated id', `{"id":1,${members}}`, x],
  ['a repeated id, the first one invalid', `{"id":"x","id":1.5,${members}}`, x],
  ['a repeated id, the first one too large for a double', `{"id":9007199254740993,${members}}`, x],
  [
    'a repeated id, the second one too large for a double',
    `{${members},"id":9007199254740993}`,
    { ...x, id: 2n ** 53n + 1n },
  ],
  ['a repeated id with an escape', String.raw`{${members},"\u0069d":8}`, { ...x, id: 8n }],
  ['a repeated name', `{"name":null,${members}}`, x],
  ['a repeated tag', `{"tag":1,${members},"tag":"y","tag":""}`, { ...x, tag: '' }],
  ['escaped member names', String.raw`{"\u0069\u0064":7,"n\u0061me":"x"}`, x],
  ['unknown members', `{"a":null,"b":[1,{"c":[]}],${members},"d":1e400,"e":"\\ud800"}`, x],
  ['an empty member name', `{"":1,${members},"":2}`, x],
  ['a nested member named id', `{"x":{"id":1.5},"y":[{"id":"z"}],${members}}`, x],
  [
    'an exact id beside a nested one',
    '{"x":{"id":1},"id":9007199254740993,"name":"x"}',
    { ...x, id: 2n ** 53n + 1n },
  ],
  ['__proto__ with members of its own', `{"__proto__":{"tag":"evil","id":1},${members}}`, x],
  ['__proto__ of null', `{${members},"__proto__":null}`, x],
  [
    'members of Object',
    `{"constructor":{"prototype":{"tag":"y"}},"toString":1,"hasOwnProperty":2,"toJSON":3,"then":4,${members}}`,
    x,
  ],
  ['arrays nested to the limit', nested('[', ']', 500), x],
  ['objects nested to the limit', nested('{"a":', '}', 500), x],
  ['brackets in a text', `{${members},"x":"${'[{'.repeat(10_000)}"}`, x],
  [
    'very many members',
    `{${Array.from({ length: 50_000 }, (_, index) => `"${index}":0,`).join('')}${members}}`,
    x,
  ],
  ['one member very many times', `{${'"id":1,'.repeat(50_000)}${members}}`, x],
];

const malformed = [
  [
    '{',
    '}',
    '[',
    '{}}',
    '{]',
    '[}',
    '{{}}',
    '{,}',
    '[,]',
    '{"id"}',
    '{"id":}',
    '{"id",7}',
    '{7:7}',
  ],
  [`{${members},}`, `{,${members}}`, '{"id":7,,"name":"x"}', '{"id":7 "name":"x"}', '{"id"=7}'],
  ['{"id"::7}', '{id:7,"name":"x"}', "{'id':7,'name':'x'}", '{"id":7;"name":"x"}', '{"x":[1,]}'],
  ['{"x":[,1]}', `{${members},null:1}`, `{${members},true:1}`, `{${members},...{}}`],
  [`/* a */${plant}`, `${plant}// b`, `{// c\n${members}}`, `{${members}/**/}`, `# d\n${plant}`],
  [`<!-- e -->${plant}`, `)]}'\n${plant}`, `while(1);${plant}`, `(${plant})`, `data=${plant}`],
  [`${plant}${plant}`, `${plant}\n${plant}`, `${plant},`, `${plant};`, `${plant}x`, `${plant}7`],
  [`${plant}\0`, `\0${plant}`, `${plant}]`, `\x1e${plant}`, `${plant}\x1a`],
  [' ', '\n', '\t\r\n ', 'x', 'plant', 'TRUE', 'Null', 'undefined', 'nul', 'truefalse', '"', '\\'],
  ...[
    '\v',
    '\f',
    '\u0085',
    '\u00a0',
    '\u1680',
    '\u2003',
    '\u2028',
    '\u3000',
    '\u200b',
    '\ufeff',
  ].map((space) => `{${space}${members}}`),
  ...['\v', '\f', '\u00a0', '\u2029', '\ufeff'].map((space) => `${plant}${space}`),
  ['\ufeff', '\ufeff\ufeff{}', ` \ufeff${plant}`],
  [nested('[', ']', 501), nested('{"a":', '}', 501), nested('[', ']', 100_000)],
  ['['.repeat(1_000_000), '{"a":'.repeat(200_000), ']'.repeat(1000), `${'['.repeat(400)}{`],
  ...Array.from({ length: plant.length - 1 }, (_, index) => plant.slice(0, index + 1)),
].flat();

/** Bodies that are not valid plants. */
export const noPlants: readonly (readonly [body: string, row: ErrorName])[] = [
  ['', 'body-missing'],
  ...malformed.map((body) => [body, 'json-malformed'] as const),
  ...[
    [
      'null',
      'true',
      'false',
      '7',
      '-0',
      '1e400',
      '""',
      '"{}"',
      '[]',
      '[[]]',
      ' null ',
      `[${plant}]`,
    ],
    [
      JSON.stringify(plant),
      '["id",7,"name","x"]',
      nested('[', ']', 500).slice(members.length + 6, -1),
    ],
  ]
    .flat()
    .map((body) => [body, 'body-not-object'] as const),
  ...[
    ['{}', '{ }', '{"name":"x"}', '{"ID":7,"name":"x"}', '{" id":7,"name":"x"}', '{"id\\u0000":7}'],
    ['{"__proto__":{"id":7,"name":"x"}}', '{"constructor":{"id":7},"name":"x"}', `{"x":${plant}}`],
    [
      '{"tag":null}',
      '{"i\u0307d":7,"name":"x"}',
      '{"\ufeffid":7,"name":"x"}',
      '{"name":7,"tag":7}',
    ],
  ]
    .flat()
    .map((body) => [body, 'id-required'] as const),
  [`{${members},"id":null}`, 'id-not-integer'],
  [`{${members},"id":{}}`, 'id-not-integer'],
  ['{"id":1.5,"tag":7}', 'id-not-integer'],
  ['{"id":1e400,"name":7}', 'id-out-of-range'],
  ['{"id":7}', 'name-required'],
  ['{"id":7,"Name":"x","tag":7}', 'name-required'],
  ['{"id":7,"__proto__":{"name":"x"}}', 'name-required'],
  [`{${members},"name":null}`, 'name-not-text'],
  ['{"id":7,"name":7,"tag":7}', 'name-not-text'],
  [`{${members},"tag":null}`, 'tag-not-text'],
  [`{${members},"tag":"y","tag":null}`, 'tag-not-text'],
];
