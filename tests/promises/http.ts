import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/server/src/http');

export const http = [
  ...of(
    'admit.ts',
    'admit',
    [
      'an unknown path is 404',
      "if (head.target !== plainTarget && pathOf(head.target) !== path) return refuse('path-unknown');",
      '',
    ],
    [
      'a request without a token is 401',
      "if (token === undefined) return refuse('unauthenticated');",
      'if (token === undefined) return admitted;',
    ],
    ['only true accepts a token', 'decision !== true && tokenName === undefined', '!decision'],
    [
      'a declared length is bounded',
      "Number(contentLength) > maxBodyBytes ? refuse('body-too-large') : undefined",
      'undefined',
    ],
    [
      'another media type is 415',
      "contentType !== mediaType && !jsonType.test(contentType ?? '')",
      'false',
    ],
    [
      'another encoding is 415',
      'contentEncoding !== undefined && contentEncoding.toLowerCase() !== coding',
      'false',
    ],
    [
      'another expectation is 417',
      "expect !== undefined && expect.toLowerCase() !== '100-continue'",
      'false',
    ],
    [
      'a repeated header is 400',
      "if (head.isRepeated) return refuse('bad-request', { message: 'a header is repeated' });",
      '',
    ],
    [
      'header fields are bounded',
      "if (head.fieldCount > maxHeaderFields) return refuse('headers-too-large');",
      '',
    ],
    ['Transfer-Encoding of HTTP/1.0 is 400', "if (httpVersion === '1.0') {", 'if (false) {'],
    [
      'another Transfer-Encoding is 501',
      "coding.toLowerCase() === 'chunked' ? undefined : refuse('not-implemented')",
      'undefined',
    ],
    ['another protocol is 400', "httpVersion !== '1.1' && httpVersion !== '1.0'", 'false'],
    [
      'an unknown method is 501',
      "httpMethods.has(method) ? undefined : refuse('not-implemented')",
      'undefined',
    ],
    [
      'authenticate has a timeout',
      'await undefinedAfterTimeout(timeouts, decide())',
      'await decide()',
    ],
    ['a Host is checked', 'if (!isHostValid(head.host, httpVersion)) {', 'if (false) {'],
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
  ...of(
    'bearer-token.ts',
    'bearer-token',
    ['the scheme may be in any case', '(\\S+)$/i', '(\\S+)$/'],
    [
      'a malformed token is no token',
      'token !== undefined && isBearerToken(token) ? token : undefined',
      'token',
    ],
  ),
  ...of(
    'body-buffer.ts',
    'body-buffer',
    ['a body is bounded', 'if (newSize > limit) {', 'if (false) {'],
    ['a body takes at most twice its size', 'Math.min(limit, 2 * newSize)', 'limit'],
  ),
  ...of(
    'client-address.ts',
    'client-address',
    [
      'a malformed element ends the list of proxies',
      'if (next === undefined) break;',
      'if (next === undefined) continue;',
    ],
    [
      'only a trusted proxy names the client',
      'if (address === undefined || !isTrusted(address)) break;',
      '',
    ],
    ['the list is read from the right', ".split(',').toReversed()", ".split(',')"],
    ['a range has a length of its family', 'if (prefix > longest) return false;', ''],
    ['an IPv4 address is shown as one', 'address.slice(mapped.length)', 'address'],
  ),
  ...of(
    'cors.ts',
    'cors',
    ['an origin is exact', 'new URL(text).origin === text', 'true'],
    ['header names are checked', 'if (!areFieldNames(allowedHeaders))', 'if (false)'],
    ['wrong origins are an error', 'if (!isList) throw', 'if (false) throw'],
    [
      'a preflight is cached for at most two hours',
      'const maxAgeSeconds = 7_200;',
      'const maxAgeSeconds = 72_000;',
    ],
  ),
  ...of(
    'describe-cause.ts',
    'describe-cause',
    [
      'a cause that contains the token is not logged',
      "token !== undefined && hasToken(text, token) ? 'an error that contains the token' : text",
      'text',
    ],
    ['credentials in a cause are redacted', 'redact(describe(cause, 0))', 'describe(cause, 0)'],
    [
      'causes are described to a bounded depth',
      'one !== undefined && depth < maxDepth',
      'one !== undefined',
    ],
    [
      'a cause that cannot be read is no exception',
      "    return 'a cause that cannot be read';",
      '    throw cause;',
    ],
    [
      'a thrown object is not logged',
      "typeof cause === 'string' ? cause : `something that is not an error (${typeof cause})`",
      "typeof cause === 'string' ? cause : JSON.stringify(cause)",
    ],
    ['the code of an error is logged', "'code' in error ? ` [${String(error.code)}]` : ''", "''"],
  ),
  ...of('limits.ts', 'service-options', ['a limit is at least 1', 'value < 1 ||', '']),
  ...of(
    'limits.ts',
    'packages/server/src/program/settings/settings',
    [
      'a body has at most 1 MiB by default',
      'maxBodyBytes: 1_048_576,',
      'maxBodyBytes: 10_485_760,',
    ],
    ['1,024 requests are in flight by default', 'maxInFlight: 1_024,', 'maxInFlight: 102_400,'],
    [
      'a head takes at most 15 s by default',
      'headersTimeoutMs: 15_000,',
      'headersTimeoutMs: 150_000,',
    ],
    [
      'a request takes at most 60 s by default',
      'requestTimeoutMs: 60_000,',
      'requestTimeoutMs: 600_000,',
    ],
    [
      'the store takes at most 15 s by default',
      'handlerTimeoutMs: 15_000,',
      'handlerTimeoutMs: 150_000,',
    ],
    [
      'an idle connection ends after 75 s by default',
      'keepAliveTimeoutMs: 75_000,',
      'keepAliveTimeoutMs: 750_000,',
    ],
    [
      '10,000 connections are open by default',
      'maxConnections: 10_000,',
      'maxConnections: 100_000,',
    ],
  ),
  ...of(
    'request-head.ts',
    'request-head',
    [
      'a port of a Host is at most 65535',
      'const largestPort = 65_535;',
      'const largestPort = Infinity;',
    ],
    [
      'a repeated Authorization is refused',
      'if (repeated === undefined) head.isRepeated = true;',
      'if (repeated === undefined) head[field] = value;',
    ],
    [
      'HTTP/1.1 requires a Host',
      "if (host === undefined) return httpVersion === '1.0';",
      'if (host === undefined) return true;',
    ],
    ['names of fields are in any case', 'fieldsByName.get(name.toLowerCase())', 'undefined'],
  ),
  ...of(
    'request-id.ts',
    'request-id',
    ['a request id is safe in a log', 'wellFormed.test(sent)', 'true'],
    ['a request id is bounded', '{1,128}', '{1,}'],
  ),
  ...of(
    'request-path.ts',
    'request-path',
    ['a query is not logged', 'split(/[?#]/, 1)', 'split(/#/, 1)'],
    ['a base path has no dot segment', String.raw`|\/\.{1,2}(?:\/|$)`, ''],
    ['a base path may end with a slash', String.raw`?.replace(/\/$/, '')`, ''],
    [
      'a path that cannot be decoded is unknown',
      '  } catch {\n    return undefined;',
      '  } catch {\n    return path;',
    ],
  ),
  ...of(
    'response-data.ts',
    'tests/black-box/error-table',
    ['a 503 has Retry-After', "['Retry-After', '1']", '[]'],
    ['a 401 has its challenge', "['WWW-Authenticate', challenge]", '[]'],
    [
      'a rejected token has its challenge',
      "['WWW-Authenticate', rejection]",
      "['WWW-Authenticate', challenge]",
    ],
    ['responses are not stored', "  'Cache-Control',\n  noStore,\n", ''],
    ['the type of a response is not guessed', "  'X-Content-Type-Options',\n  noSniff,\n", ''],
  ),
  ...of('response-data.ts', 'service', [
    'a message names every fault',
    "faults.map((fault) => errorMessages[fault]).join('; ')",
    'errorMessages[faults[0]]',
  ]),
  ...of(
    'request-report.ts',
    'request-report',
    [
      'a failure is logged at its level',
      "else if (responseData.status === internal) logger.error(fields, 'request failed');",
      '',
    ],
    ['the log names the client', '...(client !== undefined && { client }),', ''],
    ['the log names the token', '...(tokenName !== undefined && { tokenName }),', ''],
    [
      'the log has the size of a body in bytes',
      "bytes: byteLength(responseData?.body ?? ''),",
      "bytes: (responseData?.body ?? '').length,",
    ],
    [
      'the log has the duration in milliseconds',
      '- startedAt) * 1000) / 1000',
      '- startedAt) * 1000)',
    ],
    ['a lost request is logged as one', "isWritten ? 'request' : 'request aborted'", "'request'"],
  ),
  ...of('timeouts.ts', 'timeouts', [
    'a timeout ends after its duration',
    'wait.onTimeout?.();',
    '',
  ]),
  // The fetch handler.
  ...of('../fetch/create-fetch-handler.ts', '../fetch/malformed-host', [
    'a request without an authority is of HTTP/1.0',
    "target.startsWith('/') ? '1.0' : '1.1'",
    "'1.1'",
  ]),
  ...of('../fetch/create-fetch-handler.ts', '../fetch/create-fetch-handler', [
    'a response has the id of its request',
    ", 'X-Request-Id', requestId]",
    ']',
  ]),
  ...of('../fetch/in-flight.ts', '../fetch/in-flight', [
    'an entry expires',
    'if (entry.expiresAt > now) break;',
    'break;',
  ]),
  ...of(
    '../fetch/read-body.ts',
    '../fetch/hostile-bodies',
    [
      'a body has a timeout',
      "setTimeout(() => stop(errorResponse('request-timeout')), requestTimeoutMs)",
      'setTimeout(() => {}, requestTimeoutMs)',
    ],
    [
      'a body is bounded',
      "if (!buffer.add(value)) return errorResponse('body-too-large');",
      'buffer.add(value);',
    ],
    ['a body that ends is cancelled', '    clearTimeout(timer);\n', ''],
  ),
  ...of('request-head.ts', 'request-head', [
    'a Host has no other characters',
    '(?<port>\\d*))?$/;',
    '(?<port>\\d*))?/;',
  ]),
  ...of('service.ts', 'service', [
    'the log says that the store timed out',
    '`the repository timed out after ${handlerTimeoutMs} ms`',
    "''",
  ]),
  ...of('timeouts.ts', 'timeouts', [
    'each timeout has its own end',
    'if (remainingMs > 0) {',
    'if (remainingMs > Infinity) {',
  ]),
  ...of('admit.ts', 'tests/black-box/error-table', [
    'another method is 405 with Allow',
    "{ fields: ['Allow', 'POST'] }",
    '{}',
  ]),
  ...of('service.ts', '../fetch/create-fetch-handler', [
    'the base path is checked',
    'if (normalized === undefined) throw new TypeError(`basePath must be ${basePathForm}`);',
    '',
  ]),
  ...of(
    '../fetch/create-fetch-handler.ts',
    '../fetch/hostile-bodies',
    [
      'a request is in flight until the repository has responded',
      'createInFlight(maxInFlight, requestTimeoutMs + handlerTimeoutMs)',
      'createInFlight(maxInFlight, requestTimeoutMs)',
    ],
    [
      'no listener is left on the signal',
      "    signal.removeEventListener('abort', onAbort);\n",
      '',
    ],
    [
      'requests in flight are bounded',
      "if (entry === undefined) return errorResponse('unavailable', { cause: tooManyInFlight });",
      '',
    ],
    ['a request that ended is not in flight', '        inFlight.leave(entry);\n', ''],
  ),
  ...of(
    'limits.ts',
    '../node/limits',
    ['a limit is a whole number', '!Number.isInteger(value) ||', ''],
    ['a limit is at most the longest timer', 'value > longestTimerMs', 'false'],
  ),
  ...of(
    '../fetch/read-body.ts',
    '../fetch/hostile-bodies',
    ['an abort ends a body', "  signal.addEventListener('abort', onAbort);\n", ''],
    ['an abort while the token was checked ends a body', '  if (signal.aborted) onAbort();\n', ''],
  ),
  ...of(
    '../fetch/create-fetch-handler.ts',
    '../fetch/create-fetch-handler',
    ['an abort ends a request', "  signal.addEventListener('abort', onAbort);\n", ''],
    [
      'a failure of the handler has the status 500',
      "      return errorResponse('internal', { cause });",
      '      throw cause;',
    ],
  ),
  ...of(
    'admit.ts',
    'admit',
    ['another media type has Accept', "{ fields: ['Accept', mediaType] }", '{}'],
    ['another encoding has Accept-Encoding', "{ fields: ['Accept-Encoding', coding] }", '{}'],
  ),
  ...of(
    'response-data.ts',
    'service',
    [
      'the length of an error is in bytes',
      'jsonFields(byteLength(body), more)',
      'jsonFields(body.length, more)',
    ],
    [
      'the length of a plant is in bytes',
      'const bodyBytes = byteLength(body);',
      'const bodyBytes = body.length;',
    ],
    ['an empty tag is in the response', "tag === undefined ? '' :", "!tag ? '' :"],
  ),
  ...of('../node/exchange.ts', '../node/create-http-server', [
    'a response is in UTF-8',
    "responseData.isAscii === true ? 'latin1' : 'utf8'",
    "'latin1'",
  ]),
];
