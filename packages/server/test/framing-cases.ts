import type { ErrorName } from '@plantstore/core/errors';
import { chunked, goodFields, head, plant } from './listen.ts';

/** The expected error, a description of the request, and its bytes in latin1. */
export type FramingCase = readonly [name: ErrorName, what: string, bytes: string];

const body = plant(7);
const size = body.length.toString(16);
const length = `Content-Length: ${body.length}`;
const [host, authorization, contentType] = goodFields;

const fields = (...more: readonly string[]) => head([...goodFields, ...more, length]) + body;
const instead = (...all: readonly string[]) => head([...all, length]) + body;
const line = (requestLine: string) => head([...goodFields, length], requestLine) + body;
const target = (text: string) => line(`POST ${text} HTTP/1.1`);
const lengthOf = (value: string) => head([...goodFields, `Content-Length: ${value}`]) + body;
const encoding = (field: string) =>
  `${head([...goodFields, field])}${size}\r\n${body}\r\n0\r\n\r\n`;
const inChunks = (text: string) => head([...goodFields, 'Transfer-Encoding: chunked']) + text;
const trailer = (text: string) => inChunks(`${size}\r\n${body}\r\n0\r\n${text}\r\n\r\n`);

/** Invalid framing: the connection is closed, because the start of the next request is unknown. */
export const refusedFraming: readonly FramingCase[] = [
  ['bad-request', 'bytes that are not HTTP', '{"id":7}\r\n\r\n'],
  ['bad-request', 'a line of another protocol that begins like a method', 'hello\r\n\r\n'],
  ['bad-request', 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['bad-request', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],

  ['bad-request', 'no Host', instead(authorization, contentType)],
  ['bad-request', 'two Hosts', fields(host)],
  ['bad-request', 'an empty Host', instead('Host:', authorization, contentType)],
  ['bad-request', 'a Host with a path', instead('Host: a/b', authorization, contentType)],
  ['bad-request', 'a Host with a space', instead('Host: a b', authorization, contentType)],
  ['bad-request', 'a Host with a port past 16 bits', instead('Host: a:99999', authorization)],
  ['bad-request', 'a Host with a user', instead('Host: u@a', authorization, contentType)],
  ...['[12345::1]', '[1.2.3.4]', '[1::2::3]', '[::1]x', '[1:2:3]', '[v1.a]'].map(
    (address): FramingCase => [
      'bad-request',
      `a Host with brackets around no address, ${address}`,
      instead(`Host: ${address}`, authorization, contentType),
    ],
  ),
  ...['[1::2::3]', '[1.2.3.4]:80', 'h:99999', 'u@h', 'u:p@h', '@h', ':80', 'h:80:80', '%zz'].map(
    (authority): FramingCase => [
      'bad-request',
      `a target with the invalid authority ${authority}`,
      target(`http://${authority}/plants`),
    ],
  ),
  ...['[1::2::3]:80', 'h:99999', 'u@h:80', ':80', 'http:///plants'].map(
    (authority): FramingCase => [
      'bad-request',
      `CONNECT to the invalid authority ${authority}`,
      line(`CONNECT ${authority} HTTP/1.1`),
    ],
  ),
  ['bad-request', 'two Authorizations', fields(authorization)],
  ['bad-request', 'two Content-Types', fields(contentType)],

  ['bad-request', 'two equal lengths', fields(length)],
  ['bad-request', 'two lengths in a list', lengthOf(`${body.length}, ${body.length}`)],
  ['bad-request', 'a length with a plus sign', lengthOf(`+${body.length}`)],
  ['bad-request', 'a negative length', lengthOf('-1')],
  ['bad-request', 'a length with a space inside', lengthOf('2 6')],
  ['bad-request', 'a hexadecimal length', lengthOf('0x1a')],
  ['bad-request', 'a length with a fraction', lengthOf('26.0')],
  ['bad-request', 'a length that is empty', lengthOf('')],
  ['bad-request', 'a length past 64 bits', lengthOf('18446744073709551642')],
  ['body-too-large', 'a length past 53 bits', lengthOf('9007199254740993')],
  ['body-too-large', 'the largest length of 64 bits', lengthOf('18446744073709551615')],

  ['bad-request', 'a length and chunks', encoding(`${length}\r\nTransfer-Encoding: chunked`)],
  ['bad-request', 'chunks and a length', encoding(`Transfer-Encoding: chunked\r\n${length}`)],
  ['bad-request', 'chunks, a space before the colon', encoding('Transfer-Encoding : chunked')],
  ['bad-request', 'chunks after a vertical tab', encoding('Transfer-Encoding: \x0bchunked')],
  ['bad-request', 'chunks from HTTP/1.0', chunked(body).replace('HTTP/1.1', 'HTTP/1.0')],
  ['not-implemented', 'chunks in chunks', encoding('Transfer-Encoding: chunked, chunked')],
  [
    'not-implemented',
    'chunks in chunks, in two fields',
    encoding('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
  ],
  ['not-implemented', 'gzip', encoding('Transfer-Encoding: gzip')],
  ['not-implemented', 'gzip in chunks', encoding('Transfer-Encoding: gzip, chunked')],
  ['not-implemented', 'chunks in gzip', encoding('Transfer-Encoding: chunked, gzip')],
  ['not-implemented', 'identity', encoding('Transfer-Encoding: identity')],
  [
    'not-implemented',
    'identity and chunks',
    encoding('Transfer-Encoding: identity\r\nTransfer-Encoding: chunked'),
  ],
  ['not-implemented', 'an empty Transfer-Encoding', encoding('Transfer-Encoding:')],
  ['not-implemented', 'chunks and an empty coding', encoding('Transfer-Encoding: chunked,')],
  ['not-implemented', 'chunks before a tab', encoding('Transfer-Encoding: chunked\t')],
  ['not-implemented', 'chunks in quotes', encoding('Transfer-Encoding: "chunked"')],
  ['not-implemented', 'chunks with a parameter', encoding('Transfer-Encoding: chunked;q=1')],
  ['not-implemented', 'a coding that ends with chunked', encoding('Transfer-Encoding: xchunked')],

  ['bad-request', 'a chunk size that is not a number', inChunks('x\r\n')],
  ['bad-request', 'an empty chunk size', inChunks(`\r\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk size past 64 bits', inChunks(`1${'0'.repeat(16)}\r\nx`)],
  ['bad-request', 'a chunk size with 0x', inChunks(`0x${size}\r\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk size with an underscore', inChunks(`1_a\r\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk size with a sign', inChunks(`+${size}\r\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk size after a space', inChunks(` ${size}\r\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk size before a space', inChunks(`${size} \r\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk without its CRLF', inChunks(`${size}\r\n${body}0\r\n\r\n`)],
  ['bad-request', 'a chunk size before bare LF', inChunks(`${size}\n${body}\r\n0\r\n\r\n`)],
  ['bad-request', 'a chunk before bare LF', inChunks(`${size}\r\n${body}\n0\r\n\r\n`)],
  ['bad-request', 'an extension before bare LF', inChunks(`${size};a\n${body}\r\n0\r\n\r\n`)],
  [
    'headers-too-large',
    'a huge chunk extension',
    inChunks(`${size};${'x'.repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`),
  ],
  ['bad-request', 'a length in the trailers', trailer('Content-Length: 1')],
  ['bad-request', 'a trailer without a colon', trailer('X')],
  ['headers-too-large', 'a huge trailer', trailer(`X: ${'x'.repeat(20_000)}`)],
  [
    'unauthenticated',
    'a token in the trailers only',
    trailer(authorization).replace(`${authorization}\r\n`, ''),
  ],

  ['bad-request', 'bare LF everywhere', fields().replaceAll('\r\n', '\n')],
  ['bad-request', 'bare LF after the request line', fields().replace('1.1\r\n', '1.1\n')],
  ['bad-request', 'bare LF after a field', fields('X: y').replace('X: y\r\n', 'X: y\n')],
  ['bad-request', 'bare LF after the head', fields().replace('\r\n\r\n', '\r\n\n')],
  ['bad-request', 'bare CR after a field', fields('X: y').replace('X: y\r\n', 'X: y\r')],
  ['bad-request', 'a folded field', fields('X: y', ' z')],
  ['bad-request', 'a folded token', instead(host, 'Authorization: Bearer', ' good', contentType)],
  ['bad-request', 'a space before the first field', instead(` ${host}`, authorization)],
  ['bad-request', 'a space before a colon', fields('X : y')],
  ['bad-request', 'a space in a field name', fields('X y: z')],
  ['bad-request', 'an empty field name', fields(': y')],
  ['bad-request', 'a field without a colon', fields('X')],
  ['bad-request', 'a control in a field name', fields('X\x01: y')],
  ['bad-request', 'a byte past ASCII in a field name', fields('X\xe9: y')],
  ['bad-request', 'NUL in a field', fields('X: y\0z')],
  ['bad-request', 'a control in a field', fields('X: y\x01z')],
  ['bad-request', 'DEL in a field', fields('X: y\x7fz')],
  ['headers-too-large', 'a field past the limit', fields(`X: ${'x'.repeat(20_000)}`)],
  ['headers-too-large', 'a field name past the limit', fields(`${'x'.repeat(20_000)}: y`)],
  ['headers-too-large', 'a target past the limit', target(`/${'x'.repeat(20_000)}`)],
  ['headers-too-large', 'one field above the maximum', fields(...Array<string>(197).fill('X: y'))],
  ['headers-too-large', 'very many fields', fields(...Array<string>(5000).fill('X: y'))],

  ['bad-request', 'no version', line('POST /plants')],
  ['bad-request', 'an unknown version', line('POST /plants HTTP/7.7')],
  ['bad-request', 'HTTP/0.9', line('POST /plants HTTP/0.9')],
  ['bad-request', 'HTTP/2.0', line('POST /plants HTTP/2.0')],
  ['bad-request', 'HTTP in lower case', line('POST /plants http/1.1')],
  ['bad-request', 'another protocol', line('POST /plants HTTPS/1.1')],
  ['bad-request', 'a space before the method', line(' POST /plants HTTP/1.1')],
  ['bad-request', 'a tab in the request line', line('POST\t/plants HTTP/1.1')],
  ['bad-request', 'a space in the target', target('/pla nts')],
  ['bad-request', 'a target without a slash', target('plants')],
  ['bad-request', 'a target in authority-form', target('localhost:80')],
  ['bad-request', 'a byte past ASCII in the target', target('/pl\xe4nts')],
  ['bad-request', 'a control in the target', target('/plants\x01')],
  ['bad-request', 'an unknown method', line('BREW /plants HTTP/1.1')],
  ...[
    'DESCRIBE',
    'ANNOUNCE',
    'SETUP',
    'PLAY',
    'PAUSE',
    'TEARDOWN',
    'GET_PARAMETER',
    'SET_PARAMETER',
    'REDIRECT',
    'RECORD',
    'FLUSH',
    'PRI',
  ].map((method): (typeof refusedFraming)[number] => [
    'bad-request',
    `${method}, a method of another protocol`,
    line(`${method} /plants HTTP/1.1`),
  ]),
  ['not-implemented', 'RTSP with a method of RTSP', line('DESCRIBE /plants RTSP/1.0')],
  ['bad-request', 'RTSP with a method of HTTP', line('PUT /plants RTSP/1.0')],
  ['bad-request', 'ICE with a method of HTTP', line('POST /plants ICE/1.0')],
  ['bad-request', 'the connection preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['bad-request', 'a method in lower case', line('post /plants HTTP/1.1')],
  ['bad-request', 'a method that begins as POST', line('POSTS /plants HTTP/1.1')],

  ['path-unknown', 'CONNECT', head([host], 'CONNECT a:1 HTTP/1.1')],
  ['bad-request', 'CONNECT without a Host', head([], 'CONNECT a:1 HTTP/1.1')],
  ['method-not-allowed', 'CONNECT to the path', line('CONNECT /plants HTTP/1.1')],
  ['method-not-allowed', 'TRACE', head([host], 'TRACE /plants HTTP/1.1')],
  ['path-unknown', 'the asterisk', head([host], 'OPTIONS * HTTP/1.1')],
  ['path-unknown', 'the asterisk from POST', target('*')],
  ['path-unknown', 'an absolute target elsewhere', target('http://localhost/')],
  ['path-unknown', 'an absolute target without a path', target('http://localhost')],
  ['path-unknown', 'an absolute target with the scheme ftp', target('ftp://localhost/plants')],
  [
    'method-not-allowed',
    'an upgrade of another method',
    head([host, 'Connection: Upgrade', 'Upgrade: websocket'], 'GET /plants HTTP/1.1'),
  ],
  ['expectation-failed', 'another expectation', fields('Expect: unknown')],
  [
    'expectation-failed',
    'two expectations, one of them another',
    fields('Expect: 100-continue, x'),
  ],
];

/** Targets with another path: the connection is kept after the response. */
export const otherPaths = String.raw`
  //plants  /plants/  /plants//  /Plants  /PLANTS  /plants;x  /plants&x  /plants\  /plants"  /plants#  /plants#x
  /plants%2F  /%2Fplants  /plants%00  /plants%20  /plants%3Fx  /plants%23x  /%2570lants
  /plants%  /plants%7  /plants%zz  /plants%ff  /plants%C0%80  /plants%ED%A0%80
  /./plants  /../plants  /x/../plants  /x/%2e%2e/plants  /plants/.  /plants/..  /  /?/plants
`
  .trim()
  .split(/\s+/)
  .map((path): readonly [what: string, bytes: string] => [path, target(path)]);

/** Valid but unusual framing: the plant is stored. */
export const servedFraming: readonly (readonly [what: string, bytes: string])[] = [
  ['a percent-encoded path', target('/%70lant%73')],
  ['an empty query', target('/plants?')],
  ['a query that cannot be decoded', target('/plants?x=%&/../?#y')],
  ['an absolute target', target('http://localhost/plants')],
  ['an absolute target of another authority', target('HTTP://elsewhere:1/plants?x')],
  ['an absolute target with an address', target('http://[::ffff:192.0.2.1]:80/plants')],
  ['a Host with an address', instead('Host: [1:2:3:4:5:6:7::]', authorization, contentType)],
  ['an empty expectation', fields('Expect:')],
  ['an expectation without elements', fields('Expect: , ,')],
  ...['', ',', 'identity,', ', identity', ' ,\t,IDENTITY , identity,'].map(
    (value) => [`the content encodings "${value}"`, fields(`Content-Encoding: ${value}`)] as const,
  ),
  ['two fields of content encodings', fields('Content-Encoding: identity', 'Content-Encoding:')],
  ['chunks in capitals', encoding('Transfer-Encoding: CHUNKED')],
  ['chunks after a tab', encoding('Transfer-Encoding:\tchunked')],
  ['a field named Transfer_Encoding', fields('Transfer_Encoding: chunked')],
  ['a length between spaces', lengthOf(`  ${body.length}  `)],
  ['a length with leading zeros', lengthOf(`00${body.length}`)],
  ['chunks with leading zeros', inChunks(`000${size}\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk extension', inChunks(`${size};a=b;c="d"\r\n${body}\r\n00;e\r\n\r\n`)],
  ['another token in the trailers', trailer('Authorization: Bearer bad')],
  ['empty lines before the request', `\r\n\r\n${fields()}`],
  ['headers with names of Object members', fields('__proto__: x', 'constructor: y', 'toString: z')],
  ['headers named __proto__', fields('__proto__: x', '__proto__: y', '__PROTO__: z')],
  ['a tab and bytes past ASCII in a field', fields('X: y\tz\xff')],
  ['the maximum number of fields', fields(...Array<string>(196).fill('X: y'))],
  ['an upgrade', fields('Connection: Upgrade', 'Upgrade: h2c')],
  ['HTTP/1.0', line('POST /plants HTTP/1.0')],
  ['HTTP/1.0 without a Host', fields().replace('1.1', '1.0').replace(`${host}\r\n`, '')],
];
