import type { ErrorName } from '@plantstore/core/errors';
import { chunked, goodFields, head, maxBodyBytes, plant } from './listen.ts';

/** The expected error, a description of the request, and its bytes in latin1. */
export type RefusedCase = readonly [name: ErrorName, what: string, bytes: string];

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
const coding = (value: string) => encoding(`Transfer-Encoding: ${value}`);
const inChunks = (text: string) => head([...goodFields, 'Transfer-Encoding: chunked']) + text;
const trailer = (text: string) => inChunks(`${size}\r\n${body}\r\n0\r\n${text}\r\n\r\n`);
const hostOf = (value: string) => instead(`Host: ${value}`, authorization, contentType);
const authorizationOf = (value: string) => instead(host, `Authorization: ${value}`, contentType);
const typeOf = (value: string) => instead(host, authorization, `Content-Type: ${value}`);
const contentCoding = (value: string) => fields(`Content-Encoding: ${value}`);
const bodyOf = (text: string) => head([...goodFields, `Content-Length: ${text.length}`]) + text;

/** Returns a case for each of some texts, which are separated by `|`. */
const each = (what: string, texts: string, bytesOf: (text: string) => string) =>
  texts.split('|').map((text) => [`${what} ${JSON.stringify(text)}`, bytesOf(text)] as const);

const refused = (name: ErrorName, ...of: Parameters<typeof each>): RefusedCase[] =>
  each(...of).map(([what, bytes]) => [name, what, bytes]);

const methodsOfOthers =
  'DESCRIBE|ANNOUNCE|SETUP|PLAY|PAUSE|TEARDOWN|GET_PARAMETER|SET_PARAMETER|REDIRECT|RECORD|FLUSH|PRI';
const methodsOfHttp =
  'GET|PUT|DELETE|OPTIONS|PATCH|QUERY|ACL|BIND|CHECKOUT|COPY|LINK|LOCK|MERGE|MKACTIVITY|MKCALENDAR|' +
  'MKCOL|MOVE|PROPFIND|PROPPATCH|REBIND|REPORT|SEARCH|UNBIND|UNLINK|UNLOCK';

/** The connection is closed, because the start of the next request is unknown. */
export const closing: readonly RefusedCase[] = [
  ...refused('bad-request', 'the bytes', '{"id":7}\r\n\r\n|hello\r\n\r\n|P@ST\r\n\r\n', String),
  ['bad-request', 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['bad-request', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],

  ['bad-request', 'no Host', instead(authorization, contentType)],
  ...refused(
    'bad-request',
    'the Host',
    '|a/b|a b|u@a|:80|a:b|a:80b|a:65536|a:80:90|[::1|[]|[g]|[12345::1]|[1.2.3.4]|[1::2::3]|[::1]x|x[::1]|a%2',
    hostOf,
  ),
  ...refused(
    'bad-request',
    'the authority',
    '[1::2::3]|[1.2.3.4]:80|h:99999|u@h|u:p@h|@h|:80|h:80:80|%zz',
    (authority) => target(`http://${authority}/plants`),
  ),
  ...refused(
    'bad-request',
    'CONNECT to',
    '[1::2::3]:80|h:99999|u@h:80|:80|http:///plants',
    (authority) => line(`CONNECT ${authority} HTTP/1.1`),
  ),
  ...refused('bad-request', 'twice', `${host}|${authorization}|${contentType}|${length}`, fields),

  ...refused(
    'bad-request',
    'the length',
    `${body.length}, ${body.length}|+${body.length}|-1|2 6|0x1a|26.0||18446744073709551642`,
    lengthOf,
  ),
  ...refused(
    'body-too-large',
    'the length',
    `${maxBodyBytes + 1}|9007199254740993|18446744073709551615`,
    lengthOf,
  ),
  ...refused(
    'bad-request',
    'the fields',
    `${length}\r\nTransfer-Encoding: chunked|Transfer-Encoding: chunked\r\n${length}|` +
      'Transfer-Encoding : chunked|Transfer-Encoding: \x0bchunked',
    encoding,
  ),
  ['bad-request', 'chunks from HTTP/1.0', chunked(body).replace('HTTP/1.1', 'HTTP/1.0')],
  ...refused(
    'not-implemented',
    'the transfer coding',
    'chunked, chunked|chunked\r\nTransfer-Encoding: chunked|gzip|gzip, chunked|chunked, gzip|' +
      'identity|identity\r\nTransfer-Encoding: chunked||chunked,|chunked\t|"chunked"|chunked;q=1|xchunked',
    coding,
  ),
  ...refused(
    'bad-request',
    'the chunks',
    `x\r\n|\r\n${body}\r\n0\r\n\r\n|1${'0'.repeat(16)}\r\nx|0x${size}\r\n${body}\r\n0\r\n\r\n|` +
      `1_a\r\n${body}\r\n0\r\n\r\n|+${size}\r\n${body}\r\n0\r\n\r\n| ${size}\r\n${body}\r\n0\r\n\r\n|` +
      `${size} \r\n${body}\r\n0\r\n\r\n|${size}\r\n${body}0\r\n\r\n|${size}\n${body}\r\n0\r\n\r\n|` +
      `${size}\r\n${body}\n0\r\n\r\n|${size};a\n${body}\r\n0\r\n\r\n`,
    inChunks,
  ),
  ['headers-too-large', 'a huge chunk extension', inChunks(`${size};${'x'.repeat(20_000)}\r\n`)],
  ...refused('bad-request', 'the trailer', 'Content-Length: 1|X', trailer),
  ['headers-too-large', 'a huge trailer', trailer(`X: ${'x'.repeat(20_000)}`)],
  [
    'unauthenticated',
    'a token in the trailers only',
    trailer(authorization).replace(`${authorization}\r\n`, ''),
  ],

  ['bad-request', 'bare LF everywhere', fields().replaceAll('\r\n', '\n')],
  ['bad-request', 'bare CR after a field', fields('X: y').replace('X: y\r\n', 'X: y\r')],
  ['bad-request', 'a folded token', instead(host, 'Authorization: Bearer', ' good', contentType)],
  ...refused(
    'bad-request',
    'the field',
    'X: y\r\n z|X: y\nY: z|X : y|X y: z|: y|X|X\x01: y|X\xe9: y|X: y\0z|X: y\x01z|X: y\x7fz',
    fields,
  ),
  ['headers-too-large', 'a field past the limit', fields(`X: ${'x'.repeat(20_000)}`)],
  ['headers-too-large', 'a target past the limit', target(`/${'x'.repeat(20_000)}`)],
  ['headers-too-large', 'one field above the maximum', fields(...Array<string>(197).fill('X: y'))],

  ...refused(
    'bad-request',
    'the request line',
    'POST /plants|POST /plants HTTP/7.7|POST /plants HTTP/0.9|POST /plants HTTP/2.0|' +
      'POST /plants http/1.1|POST /plants HTTPS/1.1| POST /plants HTTP/1.1|POST\t/plants HTTP/1.1|' +
      'POST /pla nts HTTP/1.1|POST plants HTTP/1.1|POST localhost:80 HTTP/1.1|' +
      'POST /pl\xe4nts HTTP/1.1|POST /plants\x01 HTTP/1.1|BREW /plants HTTP/1.1|' +
      'PUT /plants RTSP/1.0|POST /plants ICE/1.0|post /plants HTTP/1.1|POSTS /plants HTTP/1.1',
    line,
  ),
  ...refused('bad-request', 'the method', methodsOfOthers, (name) => line(`${name} / HTTP/1.1`)),
  ['not-implemented', 'RTSP with a method of RTSP', line('DESCRIBE /plants RTSP/1.0')],

  ['path-unknown', 'CONNECT', head([host], 'CONNECT a:1 HTTP/1.1')],
  ['bad-request', 'CONNECT without a Host', head([], 'CONNECT a:1 HTTP/1.1')],
  ['method-not-allowed', 'CONNECT to the path', line('CONNECT /plants HTTP/1.1')],
  ['method-not-allowed', 'TRACE', head([host], 'TRACE /plants HTTP/1.1')],
  ...refused(
    'path-unknown',
    'the target',
    '*|http://localhost/|http://localhost|ftp://localhost/plants',
    target,
  ),
  [
    'method-not-allowed',
    'an upgrade of another method',
    head([host, 'Connection: Upgrade', 'Upgrade: websocket'], 'GET /plants HTTP/1.1'),
  ],
  ...refused(
    'expectation-failed',
    'the expectation',
    'unknown|200-ok|100-continue, x|100-continue 100-continue',
    (value) => fields(`Expect: ${value}`),
  ),
];

const otherPaths = String.raw`
  //plants  /plants/  /plants//  /Plants  /PLANTS  /plants;x  /plants&x  /plants\  /plants"  /plants#  /plants#x
  /plants%2F  /%2Fplants  /plants%00  /plants%20  /plants%3Fx  /plants%23x  /%2570lants
  /plants%  /plants%7  /plants%zz  /plants%ff  /plants%C0%80  /plants%ED%A0%80
  /./plants  /../plants  /x/../plants  /x/%2e%2e/plants  /plants/.  /plants/..  /  /?/plants
`;

const bodies: readonly (readonly [name: ErrorName, texts: string])[] = [
  ['body-missing', ''],
  ['json-malformed', '{"id":7,'],
  ['encoding-invalid', '\xff'],
  ['body-not-object', '[]|null'],
  ['id-required', '{"name":"x"}|{"tag":1,"name":2}'],
  ['id-not-integer', '{"id":"7","name":"x"}|{"id":1.0000000000000000001,"name":"x"}'],
  ['id-out-of-range', '{"id":9223372036854775808,"name":"x"}|{"id":1e400,"tag":null}'],
  ['name-required', '{"id":7}'],
  ['name-not-text', '{"id":7,"name":"\\ud800"}'],
  ['tag-not-text', '{"id":7,"name":"x","tag":null}'],
];

/** The connection is kept, and the next request is served. */
export const kept: readonly RefusedCase[] = [
  ...refused('path-unknown', 'the path', otherPaths.trim().split(/\s+/).join('|'), target),
  ...refused('method-not-allowed', 'the method', methodsOfHttp, (method) =>
    line(`${method} /plants HTTP/1.1`),
  ),
  ...refused(
    'not-implemented',
    'the method',
    'SOURCE|NOTIFY|SUBSCRIBE|UNSUBSCRIBE|PURGE|M-SEARCH',
    (method) => line(`${method} /plants HTTP/1.1`),
  ),
  ['unauthenticated', 'no Authorization', instead(host, contentType)],
  ...refused(
    'unauthenticated',
    'the Authorization',
    'Basic Z29vZDo=|Bearer |Bearer good good|Bearer\tgood|Bearergood|Bearer good,',
    authorizationOf,
  ),
  ...refused('token-rejected', 'the Authorization', 'Bearer Good|Bearer good=', authorizationOf),
  ['media-type-unsupported', 'no media type', instead(host, authorization)],
  ...refused(
    'media-type-unsupported',
    'the media type',
    'application/json5|application/json, application/json|application/json; a=b, text/plain|' +
      'text/plain application/json|application/json text/plain|application/json; a="b',
    typeOf,
  ),
  ...refused(
    'media-type-unsupported',
    'the content coding',
    `gzip|identity, gzip|identity;q=1|identity\xa0|identity${' '.repeat(9_000)}gzip`,
    contentCoding,
  ),
  ...bodies.flatMap(([name, texts]) => refused(name, 'the body', texts, bodyOf)),
];

/** Unusual requests that are valid: the plant is stored. */
export const served: readonly (readonly [what: string, bytes: string])[] = [
  ...each(
    'the target',
    '/%70lant%73|/plants?|/plants?x=%&/../?#y|HTTP://elsewhere:1/plants?x|http://[::ffff:192.0.2.1]:80/plants',
    target,
  ),
  ...each(
    'the Host',
    "[1:2:3:4:5:6:7::]|[::1]:3000|[::ffff:192.0.2.1]|a:65535|a:00080|a:|a%2Fb|a-_~!$&'()*+,;=",
    hostOf,
  ),
  ...each('the expectation', '|, ,|,\t100-Continue ,,', (value) => fields(`Expect: ${value}`)),
  ...each(
    'the content coding',
    `|,|identity,|, identity| ,\t,IDENTITY , identity,|identity\r\nContent-Encoding:|${' ,\t'.repeat(3_000)}`,
    contentCoding,
  ),
  ...each('the Authorization', 'bEaReR good|Bearer    good', authorizationOf),
  ...each(
    'the media type',
    'APPLICATION/json|Application/JSON ; charset=latin1|\t application/json \t;|' +
      'application/json; a="b,\\",c"; d=e',
    typeOf,
  ),
  ...each('the transfer coding', 'CHUNKED|\tchunked', coding),
  ['a field named Transfer_Encoding', fields('Transfer_Encoding: chunked')],
  ...each('the length', `  ${body.length}  |00${body.length}`, lengthOf),
  ['chunks with leading zeros', inChunks(`000${size}\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk extension', inChunks(`${size};a=b;c="d"\r\n${body}\r\n00;e\r\n\r\n`)],
  ['another token in the trailers', trailer('Authorization: Bearer bad')],
  ['empty lines before the request', `\r\n\r\n${fields()}`],
  ['headers with names of Object members', fields('__proto__: x', '__PROTO__: y', 'toString: z')],
  ['a tab and bytes past ASCII in a field', fields('X: y\tz\xff')],
  ['the maximum number of fields', fields(...Array<string>(196).fill('X: y'))],
  ['an upgrade', fields('Connection: Upgrade', 'Upgrade: h2c')],
  ['HTTP/1.0', line('POST /plants HTTP/1.0')],
  ['HTTP/1.0 without a Host', fields().replace('1.1', '1.0').replace(`${host}\r\n`, '')],
];
