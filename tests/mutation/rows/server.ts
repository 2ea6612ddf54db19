import { rowsIn } from './rows-in.ts';

const of = rowsIn('packages/server/src');

export const server = [
  ...of('fetch/create-fetch-handler.ts', 'fetch/hostile-bodies', [
    'a request is in flight until the repository has responded',
    'createInFlight(maxInFlight, requestTimeoutMs + handlerTimeoutMs)',
    'createInFlight(maxInFlight, requestTimeoutMs)',
  ]),
  ...of(
    'http/admit.ts',
    'http/admit',
    ['only true accepts a token', 'decision !== true && tokenName === undefined', '!decision'],
    [
      'authenticate has a timeout',
      'await undefinedAfterTimeout(timeouts, decide())',
      'await decide()',
    ],
    [
      'a failure of authenticate does not show the token',
      'describeCause(thrown, token)',
      'describeCause(thrown)',
    ],
    [
      'framing is checked before the path',
      "    const framing = framingFault(head);\n    if (framing !== undefined) return framing;\n    if (head.target !== plainTarget && pathOf(head.target) !== path) return refuse('path-unknown');",
      "    if (head.target !== plainTarget && pathOf(head.target) !== path) return refuse('path-unknown');\n    const framing = framingFault(head);\n    if (framing !== undefined) return framing;",
    ],
  ),
  ...of('http/body-buffer.ts', 'http/body-buffer', [
    'a body takes at most twice its size',
    'Math.min(limit, 2 * newSize)',
    'limit',
  ]),
  ...of('http/client-address.ts', 'http/client-address', [
    'the list is read from the right',
    ".split(',').toReversed()",
    ".split(',')",
  ]),
  ...of(
    'http/describe-cause.ts',
    'http/describe-cause',
    ['credentials in a cause are redacted', 'redact(describe(cause, 0))', 'describe(cause, 0)'],
    [
      'a thrown object is not logged',
      "typeof cause === 'string' ? cause : `something that is not an error (${typeof cause})`",
      "typeof cause === 'string' ? cause : JSON.stringify(cause)",
    ],
  ),
  ...of('http/request-head.ts', 'http/request-head', [
    'a repeated Authorization is refused',
    'if (repeated === undefined) head.isRepeated = true;',
    'if (repeated === undefined) head[field] = value;',
  ]),
  ...of('http/request-path.ts', 'http/request-path', [
    'a query is not logged',
    'split(/[?#]/, 1)',
    'split(/#/, 1)',
  ]),
  ...of('http/response-data.ts', 'http/service', [
    'the length of a plant is in bytes',
    'const bodyBytes = byteLength(body);',
    'const bodyBytes = body.length;',
  ]),
  ...of('http/response-data.ts', 'tests/black-box/error-table', [
    'a rejected token has its challenge',
    "['WWW-Authenticate', rejection]",
    "['WWW-Authenticate', challenge]",
  ]),
  ...of('node/create-http-server.ts', 'node/create-http-server', [
    '100 Continue is sent only to an admitted request',
    "server.on('checkContinue', (request, response) => handler.serve(request, response, true));",
    "server.on('checkContinue', (request, response) => { response.writeContinue(); handler.serve(request, response, false); });",
  ]),
  ...of(
    'node/start-server.ts',
    'node/start-server',
    [
      'a stop resets no request that arrives',
      'NetServer.prototype.close.call(server);',
      'server.close();',
    ],
    ['the server listens on loopback by default', "host = '127.0.0.1'", "host = '0.0.0.0'"],
    [
      'a stop logs the aborted requests',
      '  await nextTurn();\n  await nextTurn();\n',
      '  void nextTurn;\n',
    ],
  ),
  ...of('node/tls-options.ts', 'node/tls-versions', [
    'TLS 1.1 is refused',
    "minVersion: 'TLSv1.2'",
    "minVersion: 'TLSv1'",
  ]),
  ...of(
    'http/token-digest.ts',
    'node/accept-tokens',
    [
      'each token is compared',
      'if (timingSafeEqual(digest, compared)) found = index;',
      'if (timingSafeEqual(digest, compared)) return index;',
    ],
    [
      'a part of a token is not accepted',
      "hash('sha256', token, 'hex')",
      "hash('sha256', token.slice(0, 4), 'hex')",
    ],
  ),
];
