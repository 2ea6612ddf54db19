import { mutationsIn } from './mutation.ts';

const of = mutationsIn('packages/client/src');

export const client = [
  ...of('attempt.ts', 'attempt', [
    'a late response is cancelled',
    'signal.aborted || !Number.isInteger(status)',
    'false',
  ]),
  ...of('attempt.ts', 'request-headers', [
    'Authorization always wins',
    '        ...fields,\n        authorization: `Bearer ${token}`,',
    '        authorization: `Bearer ${token}`,\n        ...fields,',
  ]),
  ...of(
    'call-service.ts',
    'retry',
    ['retries are bounded', ' || retried >= retries', ''],
    ['an error that is not transient is not retried', '!isTransient(error) || ', ''],
    [
      'a retry is reported',
      'notify(settings.onRetry, () => ({ attempts: call.attempts, waitMs, error }));',
      '',
    ],
  ),
  ...of(
    'call-service.ts',
    'time-limits',
    [
      'a call has a total clock',
      'const deadline = performance.now() + timeoutMs;',
      'const deadline = performance.now() + 100 * timeoutMs;',
    ],
    ['an attempt has a clock', 'isLast ? callMs : attemptTimeoutMs);', 'callMs);'],
  ),
  ...of(
    'call-service.ts',
    'token-refresh',
    [
      'on 401 a new token is used once',
      'getToken && !rejected && call.response?.status === 401',
      'getToken && call.response?.status === 401 && call.attempts < 9',
    ],
    [
      'on 401 a function is called again',
      'if (isFinal && !isRejected) return outcome;',
      'if (isFinal) return outcome;',
    ],
  ),
  ...of('call-service.ts', 'token', [
    'a new token is redacted, too',
    'if (token) call.tokens.push(token);',
    'if (token && call.tokens.length === 0) call.tokens.push(token);',
  ]),
  ...of('call-service.ts', 'report', [
    'every call reports how it settled',
    "notify(readMember(options, 'onSettled'), () => reportOf(call));",
    '',
  ]),
  ...of(
    'call.ts',
    'report',
    [
      'every error with a response has its request id',
      '...(requestId !== undefined && { requestId: redact(call.tokens, requestId) }),',
      '',
    ],
    ['a network error names the innermost cause', 'innermost ?? cause.message', 'cause.message'],
  ),
  ...of(
    'client-options.ts',
    'client-options',
    ['a call takes at most 30 s by default', 'timeoutMs: 30_000,', 'timeoutMs: 300_000,'],
    [
      'an attempt takes at most 10 s by default',
      'attemptTimeoutMs: 10_000,',
      'attemptTimeoutMs: 100_000,',
    ],
    ['there are 3 retries by default', 'retries: 3,', 'retries: 4,'],
    ['a longer time than a timer has is a timer', 'Math.min(value, 2 ** 31 - 1)', 'value'],
  ),
  ...of(
    'with-timeout.ts',
    'with-timeout',
    ['no timer is left', '      clearTimeout(timer);\n', ''],
    ['no listener is left on the signal', '      offAbort(parent, abort);\n', ''],
    ['the work of a call that ended is aborted', '      own.abort();\n', ''],
  ),
  ...of(
    'with-timeout.ts',
    'abort',
    ['an abort ends a call in every phase', '    onAbort(parent, abort);\n', ''],
    [
      'an aborted signal ends a call before it begins',
      "if (readMember(parent, 'aborted') === true) return resolve('aborted');",
      '',
    ],
  ),
  ...of(
    'token-source.ts',
    'token-refresh',
    [
      'a call whose token was replaced uses the new one',
      'if (latest && latest !== rejected) return { token: latest };',
      '',
    ],
    [
      'a failed refresh is not repeated at once',
      'performance.now() < lastRefresh.startedAt + refreshPauseMs',
      'false',
    ],
  ),
  ...of(
    'token-source.ts',
    'token',
    [
      'calls at one time share a pending token',
      'pending ??= callFunction()',
      'pending = callFunction()',
    ],
    [
      'a malformed token is not sent',
      "typeof value === 'string' && isBearerToken(value) ? value : undefined",
      "typeof value === 'string' ? value : undefined",
    ],
    [
      'a token function that throws is an error',
      '.then(validToken, () => undefined)',
      '.then(validToken)',
    ],
  ),
  ...of(
    'redactor.ts',
    'redactor',
    ['a short token is redacted as a word only', 'token.length < 8', 'token.length < 7'],
    ['a message is redacted in bounded time', 'const maxLength = 4096;', 'const maxLength = 1e9;'],
    [
      'an escaped token is redacted',
      'layers > 0 && plain !== word && containsToken(plain, patterns, layers - 1)',
      'false',
    ],
    [
      'a half token at the end is redacted',
      '(text[maxLength] && start + word.length === maxLength) ||',
      '',
    ],
  ),
  ...of(
    'retry-delay.ts',
    'retry-delay',
    [
      'Retry-After is relative to the date of the server',
      '(parseHttpDate(date) || Date.now())',
      'Date.now()',
    ],
    [
      'the backoff has a maximum',
      'Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried)',
      'retryDelayMs * 2 ** retried',
    ],
    ['the backoff has full jitter', ' * Math.random()', ''],
  ),
  ...of(
    'read-text.ts',
    'read-text',
    ['a character may be in two chunks', 'stream: !done', 'stream: false'],
    [
      'a response is bounded',
      '!isDone && length <= maxLength && !signal.aborted',
      '!isDone && !signal.aborted',
    ],
    ['a body that is not read is cancelled', 'if (!isDone) cancel();', ''],
  ),
  ...of(
    'read-response.ts',
    'read-response',
    [
      'a 200 for another plant is an error',
      'if (sent.endsWith(JSON.stringify(plant).slice(1))) return ok(plant);',
      'return ok(plant);',
    ],
    ['an unknown number is an error of the service', ": 'unknown')", ": 'internal')"],
    [
      'only a 200 has a plant',
      'if (status === 200 && isText(name)',
      'if (status < 300 && isText(name)',
    ],
    [
      'a member of a prototype is not one of the response',
      'Object.setPrototypeOf(Object(content), null) as Members',
      'Object(content) as Members',
    ],
    ['a number that is not an int32 is no error number', 'value === ~~value', 'true'],
    ['a message shows no token', 'message: redact(call.tokens, message),', 'message,'],
    ['the raw body shows no token', 'body: redact(call.tokens, text),', 'body: text,'],
  ),
  ...of(
    'describe-cause.ts',
    'describe-cause',
    [
      'a cause shows no token',
      "typeof value === 'string' ? redact(tokens, value) : undefined",
      "typeof value === 'string' ? value : undefined",
    ],
    [
      'causes are described to a bounded depth',
      'next !== undefined && depth > 1',
      'next !== undefined',
    ],
  ),
  ...of('prepare-request.ts', 'prepare-request', [
    'an id that is not exact is refused before a request',
    'return isExactId(id) && encodeNewPlant({ id, name, tag });',
    'return encodeNewPlant({ id, name, tag });',
  ]),
  ...of(
    'plants-url.ts',
    'plants-url',
    [
      'a base URL may end with a slash',
      String.raw`replace(/\/?$/, '/plants')`,
      String.raw`replace(/$/, '/plants')`,
    ],
    ['a base URL has no user info, query or fragment', 'plainHttpUrl.test(baseUrl)', 'true'],
  ),
  ...of('untrusted.ts', 'never-throws', [
    'a hook that throws changes nothing',
    'if (isFunction(hook)) void ignoreErrors(() => hook(getEvent()));',
    'if (isFunction(hook)) hook(getEvent());',
  ]),
  ...of(
    'create-plants.ts',
    'create-plants',
    ['an endless source is bounded', 'while (isFull()) await nextChange();', ''],
    ['8 plants are created at a time by default', ': 8;', ': 80;'],
    ['each outcome has its index', '      index += 1;\n', '      index += 2;\n'],
  ),
  ...of(
    'create-plants.ts',
    'create-plants-end',
    ['no listener is left on the signal', '      offAbort(caller, stop);\n', ''],
    [
      'the calls of a loop that ends are aborted',
      '    stopping.abort();\n    return end(value);',
      '    return end(value);',
    ],
    ['the source is closed', '      if (awaitsReader) await reader;\n', ''],
    [
      'the calls in flight are waited for',
      'while (unconsumed > settled.length) await nextChange();',
      '',
    ],
  ),
  ...of('attempt.ts', 'create-client', [
    'a redirect is not followed',
    "redirect: 'manual'",
    "redirect: 'follow'",
  ]),
  ...of('call-service.ts', 'retry-delay', [
    'a wait never passes the total clock',
    ' || waitMs >= remainingMs()',
    '',
  ]),
  ...of(
    'call-service.ts',
    'token',
    [
      'a refresh of the token is no retry',
      '      token = undefined;\n    } else {',
      '      token = undefined;\n      retried += 1;\n    } else {',
    ],
    ['a timeout names its phase', '${phase} within ${ms} ms', 'response within ${ms} ms'],
    ['a token of a function is redacted', 'if (token) call.tokens.push(token);', ''],
  ),
  ...of('retry-delay.ts', 'retry-delay', [
    'a call without a delay never waits',
    '(Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried) || 0)',
    'Math.min(maxRetryDelayMs, retryDelayMs * 2 ** retried)',
  ]),
  ...of('attempt.ts', 'report', [
    'an error has no request id of an earlier attempt',
    '      call.response = undefined;\n',
    '',
  ]),
  ...of('call.ts', 'report', [
    'a request id shows no token',
    'redact(call.tokens, requestId)',
    'requestId',
  ]),
  ...of('retry-delay.ts', 'retry', [
    '429 is retried',
    '[408, 429, 502, 503, 504]',
    '[408, 502, 503, 504]',
  ]),
  ...of('retry-delay.ts', 'retry', [
    '500 is not retried',
    '[408, 429, 502, 503, 504]',
    '[408, 429, 500, 502, 503, 504]',
  ]),
  ...of('retry-delay.ts', 'time-limits', ['a timeout is retried', " || kind === 'timeout'", '']),
  ...of('read-text.ts', 'abort', [
    'an abort ends a body',
    "  signal.addEventListener('abort', cancel);\n",
    '',
  ]),
  ...of('prepare-request.ts', 'create-client', [
    'a signal that cannot abort is an error',
    'if (caller !== undefined && !isSignal(caller))',
    'if (false)',
  ]),
];
