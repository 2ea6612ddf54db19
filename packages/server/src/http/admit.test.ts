import type { ErrorName } from '@plantstore/core/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Change,
  goodRequest,
  headOf,
  maxBodyBytes,
  requestWith,
} from '../../test/requests.ts';
import { admissionOf, outcomeOf, serviceWith } from '../../test/services.ts';

describe('admission', () => {
  it.each(['SOURCE', 'NOTIFY', 'SUBSCRIBE', 'UNSUBSCRIBE', 'PURGE', 'M-SEARCH'])(
    'admission refuses %s, which is not a method of HTTP, with not-implemented',
    async (method) => {
      expect(await admissionOf({ method })).toBe('not-implemented');
    },
  );

  it.each(
    (
      'GET HEAD PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY ACL BIND CHECKOUT COPY LINK LOCK MERGE MKACTIVITY ' +
      'MKCALENDAR MKCOL MOVE PROPFIND PROPPATCH REBIND REPORT SEARCH UNBIND UNLINK UNLOCK'
    ).split(' '),
  )('admission refuses %s, a method of HTTP, with method-not-allowed', async (method) => {
    expect(await admissionOf({ method })).toBe('method-not-allowed');
  });

  it.each<[string, Change]>([
    ['only HTTP/1.1 and HTTP/1.0 are served', { httpVersion: '2.0' }],
    ['the header Host is repeated', { Host: ['a', 'a'] }],
    ['a valid Host header is required', { Host: undefined }],
    ['the authority of the target is not valid', { target: 'http://u@h/plants' }],
    ['HTTP/1.0 has no Transfer-Encoding', { 'Transfer-Encoding': 'chunked', httpVersion: '1.0' }],
  ])(
    'admission refuses invalid HTTP with a message that states the fault: %s',
    async (message, change) => {
      const admission = await serviceWith().admit(headOf(requestWith(change)));
      const body = admission.response?.body ?? '{}';
      expect(JSON.parse(body)).toEqual({ error: 1000, message });
    },
  );

  it('admission returns the name of an accepted token, also if the request is refused for its content', async () => {
    for (const decision of [{ tokenName: 'ci' }, Promise.resolve({ tokenName: 'ci' })]) {
      const { admit } = serviceWith({ authenticate: () => decision });
      expect(await admit(headOf(goodRequest))).toEqual({ response: undefined, tokenName: 'ci' });
      const refused = await admit(headOf(requestWith({ 'Content-Type': undefined })));
      expect(refused).toMatchObject({ response: { status: 415 }, tokenName: 'ci' });
    }
    expect(await serviceWith().admit(headOf(goodRequest))).toEqual({});
  });

  it('admission passes authenticate the operation that a token is used for', async () => {
    const asked: unknown[] = [];
    const { admit } = serviceWith({
      authenticate: (...args) => asked.push(args) > 0 && args[1].operation !== 'createPlant',
    });
    expect(await admit(headOf(goodRequest))).toMatchObject({ response: { status: 401 } });
    expect(asked).toEqual([['good', { operation: 'createPlant' }]]);
  });

  it.each([
    ['', '/plants'],
    ['/my garden/', '/my%20garden/plants'],
  ])('the message about another path names that of the operation: %j', async (basePath, path) => {
    const { response } = await serviceWith({ basePath }).admit(
      headOf(requestWith({ target: '/Plants' })),
    );
    const message = `there is nothing at this path; plants are created with POST ${path}`;
    expect(JSON.parse(response?.body ?? '')).toEqual({ error: 2404, message });
  });

  it.each([
    false,
    undefined,
    null,
    0,
    1,
    'true',
    {},
    [],
    { tokenName: 7 },
    { tokenName: undefined },
  ])('a request is refused with token-rejected if authenticate returns %j', async (decision) => {
    for (const returned of [decision, Promise.resolve(decision)]) {
      const { admit } = serviceWith({ authenticate: () => returned as never });
      expect(outcomeOf(await admit(headOf(goodRequest)))).toBe('token-rejected');
    }
  });

  it('a service responds with 500 if authenticate or its decision throws, with a cause without the token', async () => {
    for (const authenticate of [
      (token: string) => ({
        get tokenName(): string {
          throw new Error(`no such token: ${token}`);
        },
      }),
      async (token: string) => Promise.reject(new Error(`no such token: ${token}`)),
      (token: string) => {
        throw new Error(`no such token: ${token}`);
      },
    ]) {
      const secret = requestWith({ Authorization: 'Bearer s3cr3t' });
      const admission = await serviceWith({ authenticate }).admit(headOf(secret));
      expect(outcomeOf(admission)).toBe('internal');
      expect(JSON.stringify(admission)).not.toContain('s3cr3t');
      expect(JSON.stringify(admission)).toContain('no such token: …');
    }
  });

  it('admission is decided at once, unless authenticate returns a promise', () => {
    const decisions = [true, false, { tokenName: 'ci' }, Promise.resolve(true)];
    const areLater = decisions.map((decision) => {
      const { admit } = serviceWith({ authenticate: () => decision });
      return admit(headOf(goodRequest)) instanceof Promise;
    });
    expect(areLater).toEqual([false, false, false, true]);
  });

  it('admission is refused with unavailable and its cause if authenticate does not settle in time', async () => {
    const authenticate = async () => new Promise<boolean>(() => {});
    const { admit } = serviceWith({ authenticate, handlerTimeoutMs: 20 });
    const admission = await admit(headOf(goodRequest));
    expect(outcomeOf(admission)).toBe('unavailable');
    expect(admission).toMatchObject({
      response: { cause: 'authenticate timed out after 20 ms' },
    });
  });

  it('admission accepts a valid request', async () => {
    expect(await admissionOf({})).toBe('admitted');
  });

  it.each<[string, Change]>([
    ['a scheme in any case', { Authorization: 'bEaReR good' }],
    ['many spaces before the token', { Authorization: 'Bearer    good' }],
    ['a media type in any case', { 'Content-Type': 'APPLICATION/json' }],
    [
      'a media type in any case with parameters',
      { 'Content-Type': 'Application/JSON ; charset=latin1' },
    ],
    ['a media type between spaces and tabs', { 'Content-Type': '\t application/json \t;' }],
    [
      'a media type with a comma and an escaped quote in a quoted parameter',
      { 'Content-Type': 'application/json; a="b,\\",c"; d=e' },
    ],
    ['the content encoding identity', { 'Content-Encoding': 'Identity' }],
    ['an expectation of 100-continue in any case', { Expect: '100-Continue' }],
    ['two expectations', { Expect: ['100-continue', '100-continue'] }],
    ['an expectation with empty elements', { Expect: ',\t100-continue ,,' }],
    ['an empty expectation', { Expect: '' }],
    ['many empty elements', { 'Content-Encoding': ' ,\t'.repeat(5_000) }],
    ['a percent-encoded path', { target: '/%70lant%73' }],
    ['a query', { target: '/plants?x=/y' }],
    ['a target in absolute-form', { target: 'http://elsewhere/plants?x' }],
    ['an IPv6 host', { Host: '[::1]:3000' }],
    ['field names in any case', { Host: undefined, hOST: 'x' }],
    ['a header named __proto__', { ['__proto__']: 'y', constructor: 'z' }],
    ['HTTP/1.0 without a Host', { Host: undefined, httpVersion: '1.0' }],
    ['a declared length at the limit', { 'Content-Length': String(maxBodyBytes) }],
    ['a chunked body', { 'Transfer-Encoding': 'Chunked', 'Content-Length': undefined }],
  ])('admission accepts a request with %s', async (_, change) => {
    expect(await admissionOf(change)).toBe('admitted');
  });

  it.each<[ErrorName, string, Change]>([
    ['path-unknown', 'an empty authority', { target: 'http:///plants' }],
    ['bad-request', 'an invalid Host', { Host: 'a/b' }],
    ['bad-request', 'an empty Host', { Host: '' }],
    ['bad-request', 'two Authorizations', { Authorization: ['Bearer good', 'Bearer good'] }],
    [
      'bad-request',
      'two Content-Types',
      { 'Content-Type': ['application/json', 'application/json'] },
    ],
    ['not-implemented', 'another transfer encoding', { 'Transfer-Encoding': 'gzip, chunked' }],
    ['path-unknown', 'another path', { target: '/' }],
    ['path-unknown', 'a slash at the end', { target: '/plants/' }],
    ['path-unknown', 'a path in another case', { target: '/Plants' }],
    ['path-unknown', 'a path that cannot be decoded', { target: '/plants%' }],
    ['path-unknown', 'the asterisk', { target: '*' }],
    ['path-unknown', 'two slashes', { target: '//plants' }],
    ['method-not-allowed', 'GET', { method: 'GET' }],
    ['method-not-allowed', 'OPTIONS', { method: 'OPTIONS' }],
    ['unauthenticated', 'no Authorization', { Authorization: undefined }],
    ['unauthenticated', 'another scheme', { Authorization: 'Basic Z29vZDo=' }],
    ['unauthenticated', 'no token', { Authorization: 'Bearer ' }],
    ['unauthenticated', 'two tokens', { Authorization: 'Bearer good good' }],
    ['unauthenticated', 'a tab before the token', { Authorization: 'Bearer\tgood' }],
    ['unauthenticated', 'no space before the token', { Authorization: 'Bearergood' }],
    ['unauthenticated', 'a token with a comma', { Authorization: 'Bearer good,' }],
    ['token-rejected', 'another token', { Authorization: 'Bearer Good' }],
    ['token-rejected', 'the token followed by an equals sign', { Authorization: 'Bearer good=' }],
    ['expectation-failed', 'an expectation other than 100-continue', { Expect: '200-ok' }],
    ['expectation-failed', 'an expectation in a list', { Expect: '100-continue, x' }],
    [
      'expectation-failed',
      'an expectation without a comma',
      { Expect: '100-continue 100-continue' },
    ],
    [
      'media-type-unsupported',
      'a content encoding with a parameter',
      { 'Content-Encoding': 'identity;q=1' },
    ],
    [
      'media-type-unsupported',
      'white space that HTTP does not have in a list',
      { 'Content-Encoding': 'identity\xa0' },
    ],
    [
      'media-type-unsupported',
      'a content encoding after many spaces',
      { 'Content-Encoding': `identity${' '.repeat(16_000)}gzip` },
    ],
    ['media-type-unsupported', 'no media type', { 'Content-Type': undefined }],
    ['media-type-unsupported', 'another media type', { 'Content-Type': 'application/json5' }],
    [
      'media-type-unsupported',
      'two media types',
      { 'Content-Type': 'application/json, application/json' },
    ],
    [
      'media-type-unsupported',
      'a media type after a parameter',
      { 'Content-Type': 'application/json; a=b, text/plain' },
    ],
    [
      'media-type-unsupported',
      'text before the media type',
      { 'Content-Type': 'text/plain application/json' },
    ],
    [
      'media-type-unsupported',
      'text after the media type',
      { 'Content-Type': 'application/json text/plain' },
    ],
    [
      'media-type-unsupported',
      'an unfinished quoted parameter',
      { 'Content-Type': 'application/json; a="b' },
    ],
    ['media-type-unsupported', 'a content encoding', { 'Content-Encoding': 'gzip' }],
    [
      'media-type-unsupported',
      'two content encodings',
      { 'Content-Encoding': ['identity', 'gzip'] },
    ],
    [
      'body-too-large',
      'a declared length above the limit',
      { 'Content-Length': String(maxBodyBytes + 1) },
    ],
    ['body-too-large', 'a length of many digits', { 'Content-Length': '9'.repeat(400) }],
  ])('admission refuses a request with the error %s: %s', async (name, _, change) => {
    expect(await admissionOf(change)).toBe(name);
  });

  it('admission reports the first fault in the documented order', async () => {
    const inOrder: [ErrorName, Change][] = [
      ['bad-request', { Host: 'a b' }],
      ['path-unknown', { target: '/elsewhere' }],
      ['method-not-allowed', { method: 'PUT' }],
      ['token-rejected', { Authorization: 'Bearer bad' }],
      ['expectation-failed', { Expect: 'unknown' }],
      ['media-type-unsupported', { 'Content-Type': 'text/plain' }],
      ['body-too-large', { 'Content-Length': '1001' }],
    ];
    await fc.assert(
      fc.asyncProperty(fc.subarray(inOrder, { minLength: 1 }), async (faults) => {
        const all: Change = Object.assign({}, ...faults.map(([, change]) => change));
        expect(await admissionOf(all)).toBe(faults[0]?.[0]);
      }),
    );
  });
});
