import { rowsIn } from './rows-in.ts';

const of = rowsIn('packages/client/src');

export const client = [
  ...of('attempt.ts', 'create-client', [
    'a redirect is not followed',
    "redirect: 'manual'",
    "redirect: 'follow'",
  ]),
  ...of('attempt.ts', 'request-headers', [
    'Authorization always wins',
    '        ...fields,\n        authorization: `Bearer ${token}`,',
    '        authorization: `Bearer ${token}`,\n        ...fields,',
  ]),
  ...of('call-service.ts', 'token', [
    'a new token is redacted, too',
    'if (token) call.tokens.push(token);',
    'if (token && call.tokens.length === 0) call.tokens.push(token);',
  ]),
  ...of('call.ts', 'report', [
    'a request id shows no token',
    'redact(call.tokens, requestId)',
    'requestId',
  ]),
  ...of('describe-cause.ts', 'describe-cause', [
    'a cause shows no token',
    "typeof value === 'string' ? redact(tokens, value) : undefined",
    "typeof value === 'string' ? value : undefined",
  ]),
  ...of(
    'read-response.ts',
    'read-response',
    [
      'a 200 for another plant is an error',
      'if (sent.endsWith(JSON.stringify(plant).slice(1))) return ok(plant);',
      'return ok(plant);',
    ],
    [
      'a member of a prototype is not one of the response',
      'Object.setPrototypeOf(Object(content), null) as Members',
      'Object(content) as Members',
    ],
    ['a message shows no token', 'message: redact(call.tokens, message),', 'message,'],
    ['the raw body shows no token', 'body: redact(call.tokens, text),', 'body: text,'],
  ),
  ...of('retry-delay.ts', 'retry', [
    '500 is not retried',
    '[408, 429, 502, 503, 504]',
    '[408, 429, 500, 502, 503, 504]',
  ]),
];
