import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/server/src/node');

export const node = [
  ...of(
    'create-http-server.ts',
    'limits',

    [
      'a connection remains open until the timeout of the repository',
      'requestTimeoutMs + 2 * limits.handlerTimeoutMs',
      'requestTimeoutMs + limits.handlerTimeoutMs',
    ],
    ['an idle connection has a timeout', '    keepAliveTimeout: limits.keepAliveTimeoutMs,\n', ''],
    ['connections are bounded', '  server.maxConnections = limits.maxConnections;\n', ''],
    ['later closed connections are logged', '      dropped = 0;\n    }, 1_000)', '    }, 1_000)'],
    [
      'closed connections are logged',
      "  server.on('drop', warnOfDrops(limits.maxConnections, logger));\n",
      '',
    ],
    [
      'a client that does not read is closed',
      '  server.timeout = requestTimeoutMs + 2 * limits.handlerTimeoutMs;\n',
      '',
    ],
    [
      'the interval of the timeouts is short',
      'const checkIntervalMs = 1_000;',
      'const checkIntervalMs = 1_000_000;',
    ],
  ),
  ...of(
    'create-http-server.ts',
    'create-http-server',
    [
      'parse errors have a response',
      "  server.on('clientError', createClientErrorListener(handler));\n",
      '',
    ],
    [
      '100 Continue is sent only to an admitted request',
      "server.on('checkContinue', (request, response) => handler.serve(request, response, true));",
      "server.on('checkContinue', (request, response) => { response.writeContinue(); handler.serve(request, response, false); });",
    ],
  ),
  ...of(
    'create-http-server.ts',
    'tls-options',
    [
      'a failed handshake is logged',
      "    logger.info({ code: error.code }, 'no TLS handshake');\n",
      '',
    ],
    [
      'a failed handshake is closed',
      '    socket.destroy();\n    logger.info({ code',
      '    logger.info({ code',
    ],
    [
      'a certificate is checked',
      'if (fault !== undefined) throw new TypeError(`tls.${fault.part} ${fault.why}`);',
      '',
    ],
    [
      'a handshake has a timeout',
      '...secureOptionsOf(tls), handshakeTimeout }',
      '...secureOptionsOf(tls) }',
    ],
  ),
  ...of('tls-options.ts', 'tls-versions', [
    'TLS 1.1 is refused',
    "minVersion: 'TLSv1.2'",
    "minVersion: 'TLSv1'",
  ]),
  ...of(
    'tls-options.ts',
    'tls-options',
    [
      'a key that is not of the certificate is refused',
      'attempt(() => certificate.checkPrivateKey(key)) !== true',
      'false',
    ],
    ['an encrypted key is named', "hasPem(key, 'ENCRYPTED PRIVATE KEY') || ", ''],
    [
      'a key that is too short is refused',
      '  return contextFault(tls);',
      '  return void contextFault;',
    ],
  ),
  ...of(
    'token-digest.ts',
    'accept-tokens',
    ['a token that is not accepted is not found', 'let found = -1;', 'let found = 0;'],
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
  ...of('accept-tokens.ts', 'accept-tokens', [
    'an invalid token is an error',
    "if (!tokens.every(isBearerToken)) throw new TypeError('a token cannot be sent as a bearer token');",
    '',
  ]),
  ...of(
    'closes-after.ts',
    'closes-after',
    [
      'a connection ends after Upgrade',
      "upgrade !== undefined || method === 'TRACE'",
      "method === 'TRACE'",
    ],
    ['a connection ends after a framing error', 'framingErrors.has(error) || ', ''],
    ['a connection ends before a large body', ' || !isBodySmall', ''],
    ['a connection ends after a part of a body', "return bodyRead === 'a part';", 'return false;'],
  ),
  ...of(
    'exchange.ts',
    'create-http-server',
    ['a connection ends if 100 Continue was not sent', 'if (this.awaitsContinue) return true;', ''],
    ['100 Continue is sent for a body', '      response.writeContinue();\n', ''],
    [
      'a response says that the connection closes',
      "    if (closes) fields.push('Connection', 'close');\n",
      '',
    ],
  ),
  ...of('exchange.ts', 'start-server', [
    'the last response of a stop has Connection: close',
    'if (context.isClosing() && latest === this) return true;',
    '',
  ]),
  ...of(
    'exchange.ts',
    'limits',
    ['requests in flight are bounded', 'context.inFlight >= context.maxInFlight', 'false'],
    ['a request in flight is counted', '      context.inFlight += 1;\n', ''],
    [
      'a request that ended is not in flight',
      "if (this.phase === 'reading' || this.phase === 'storing') this.connection.context.inFlight -= 1;",
      '',
    ],
  ),
  ...of(
    'lingering-close.ts',
    'lost-responses',
    [
      'a client can read the response although it sends more',
      '  drain(socket, lingerMs, settle);\n',
      '  settle();\n',
    ],
    [
      'the last response reaches its client',
      'Object.assign(socket, { destroySoon });',
      'void socket;',
    ],
  ),
  ...of('lingering-close.ts', 'unwanted-bytes', [
    'a connection is closed after unwanted bytes',
    'if (pending === 0) socket.destroy();',
    '',
  ]),
  ...of(
    'refused-connection.ts',
    'refused-connection',
    ['a timeout is 408', "      return 'request-timeout';", "      return 'bad-request';"],
    ['CONNECT with a reset is no uncaught exception', "    socket.on('error', () => {});\n", ''],
  ),
  ...of(
    'start-server.ts',
    'start-server',
    ['a stop has a deadline', '    connections.destroyAll();\n', ''],
    ['a stop ends idle connections', '      connections.destroyIdle();\n', ''],
    ['a stop ends silent connections', '      connections.destroySilent();\n', ''],
    [
      'a stop resets no request that arrives',
      'NetServer.prototype.close.call(server);',
      'server.close();',
    ],
    ['the port is checked', '!Number.isInteger(port) || port < 0 || port > largestPort', 'false'],
    ['an empty host is refused', "typeof host !== 'string' || host === ''", 'false'],
    ['the server listens on loopback by default', "host = '127.0.0.1'", "host = '0.0.0.0'"],
  ),
  ...of('track-connections.ts', 'start-server', [
    'a response that is being sent is not cut off',
    'for (const socket of sending) Object.assign(socket, { destroy: () => socket });',
    '',
  ]),
  ...of('listen-on.ts', 'start-server', [
    'a port that is in use is named',
    "['EADDRINUSE', 'is taken by another process; choose another port'],",
    '',
  ]),
  ...of(
    'create-http-server.ts',
    'refused-connection',
    ['the head of a request has a timeout', '    headersTimeout,\n', ''],
    ['a request has a timeout', '    requestTimeout: requestTimeoutMs,\n', ''],
  ),
  ...of('create-http-server.ts', 'tests/black-box/error-table', [
    'another expectation is refused',
    "  server.on('checkExpectation', (request, response) => handler.serve(request, response, true));\n",
    '',
  ]),
  ...of('create-http-server.ts', 'framing', [
    'a missing Host has a response with a body',
    '    requireHostHeader: false,\n',
    '',
  ]),
  ...of('exchange.ts', '../http/request-report', [
    'each request is reported once',
    'if (this.isReported) return;',
    '',
  ]),
  ...of('refused-connection.ts', 'tests/black-box/error-table', [
    'a head that is too large is 431',
    "      return 'headers-too-large';",
    "      return 'bad-request';",
  ]),
  ...of('refused-connection.ts', 'limits', [
    'a CONNECT that is not read is closed',
    "    socket.on('timeout', () => socket.destroy());\n",
    '',
  ]),
  ...of('start-server.ts', 'tests/black-box/tls', [
    'a renewed certificate is used',
    '  server.setSecureContext(secureOptionsOf(tls));\n',
    '',
  ]),
  ...of('track-connections.ts', 'tests/black-box/metrics', [
    'connections are counted',
    'count: () => sockets.size + handshaking.size',
    'count: () => 0',
  ]),
  ...of('exchange.ts', 'tests/black-box/error-table', [
    'a response has the id of its request',
    "    fields.push('X-Request-Id', this.requestId);\n",
    '',
  ]),
  ...of(
    'start-server.ts',
    'closed-server',
    ['a closed server has no deadline', '  finished.abort();\n', ''],
    [
      'a closed server checks no timeouts',
      '  finished.abort();\n  server.close();\n',
      '  finished.abort();\n',
    ],
  ),
  ...of(
    'lingering-close.ts',
    'closed-server',
    ['a drain that is over has no timer', '    clearTimeout(timer);\n', ''],
    ['a drain is over if the connection is lost', "  source.once('close', finish);\n", ''],
  ),
  ...of(
    'exchange.ts',
    'closed-server',
    [
      'a client that disconnects ends the drain of its body',
      "    response.once('close', stop);\n",
      '    void stop;\n',
    ],
    [
      'a request whose connection is lost is not in flight',
      "    if (this.phase === 'reading') this.decide();\n",
      '',
    ],
  ),
  ...of(
    'track-connections.ts',
    'closed-server',
    ['a closed connection is not counted', "    socket.on('close', forget);\n", ''],
    [
      'a handshake that its client closes is not counted',
      '        if (handshaking.get(address) === socket) handshaking.delete(address);\n',
      '',
    ],
    ['a TLS connection is counted once', '      handshaking.delete(addressOf(socket));\n', ''],
  ),
  ...of(
    'lingering-close.ts',
    'unwanted-bytes',
    ['unwanted bytes are bounded', '64 * 1024 * 1024', '640 * 1024 * 1024'],
    ['a last response can be read for 0.5 s', 'const lingerMs = 500;', 'const lingerMs = 50;'],
  ),
  ...of('exchange.ts', 'unwanted-bytes', [
    'an unwanted body may take 5 s',
    'const maxDrainMs = 5_000;',
    'const maxDrainMs = 500;',
  ]),
  ...of('lingering-close.ts', 'lost-responses', [
    'a request that timed out is not served later',
    '  dropInput(socket);\n  drain(',
    '  drain(',
  ]),
  ...of('connection.ts', 'lost-responses', [
    'a connection has a maximum of waiting requests',
    'export const maxWaiting = 32;',
    'export const maxWaiting = 64;',
  ]),
  ...of(
    'create-http-server.ts',
    'lost-responses',
    [
      'a client may half-close its connection',
      '  Object.assign(server, { httpAllowHalfOpen: true });\n',
      '',
    ],
    ['CONNECT has a response', "  server.on('connect', createConnectListener(handler));\n", ''],
  ),
  ...of(
    'refused-connection.ts',
    'lost-responses',
    [
      'the response to a parse error follows the earlier ones',
      'afterResponses(connection, () => respondRaw(socket, responseData, context.logger, info));',
      'respondRaw(socket, responseData, context.logger, info);',
    ],
    [
      'the response to CONNECT follows the earlier ones',
      'response === undefined || response.writableFinished',
      'response !== null',
    ],
    ['a half-closed connection gets its last response', 'prependOnceListener', 'once'],
    [
      'no response follows one with Connection: close',
      'if (connection?.hasEnded !== true) onDone();',
      'onDone();',
    ],
  ),
  ...of(
    'start-server.ts',
    'start-server',
    [
      'a stop logs the aborted requests',
      '  await nextTurn();\n  await nextTurn();\n',
      '  void nextTurn;\n',
    ],
    [
      'an invalid certificate is not used for a renewal',
      "  if (fault !== undefined) {\n    return { kind: 'not-renewed'",
      "  if (fault === null) {\n    return { kind: 'not-renewed'",
    ],
    ['a server without TLS renews no certificate', '!isTlsServer(server)', 'false'],
  ),
  ...of(
    'listen-on.ts',
    'start-server',
    [
      'an IPv6 address is in brackets in the URL',
      "host.includes(':') ? `[${host}]` : host",
      'host',
    ],
    ['0.0.0.0 is not in the URL', "'0.0.0.0': '127.0.0.1', ", ''],
    [':: is not in the URL', ", '::': '::1'", ''],
  ),
  ...of('listen-on.ts', 'tests/black-box/handed-sockets', [
    'a handed-over socket is of TCP',
    "address === null || typeof address === 'string'",
    "typeof address === 'string'",
  ]),
  ...of('request-handler.ts', 'create-request-listener', [
    'trusted proxies are addresses or ranges',
    '!trustedProxies.every(isAddressRange)',
    'trustedProxies.every(isAddressRange) && false',
  ]),
  ...of('tls-options.ts', 'tls-options', [
    'an encrypted key of the older form is named',
    " || key.includes('Proc-Type: 4,ENCRYPTED')",
    '',
  ]),
  ...of('connection.ts', 'unauthenticated', [
    'a connection is not read while its token is checked, whatever resumes it',
    "      socket.emit('pause');\n",
    '',
  ]),
];
