import { inspect } from 'node:util';
import type { ErrorName } from '@plantstore/core/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  goodRequest,
  headOf,
  maxBodyBytes,
  type Request,
  withFields,
  without,
} from '../../test/requests.ts';
import { admissionOf, outcomeOf, serviceWith } from '../../test/services.ts';

describe('admission', () => {
  it.each(['SOURCE', 'NOTIFY', 'SUBSCRIBE', 'UNSUBSCRIBE', 'PURGE', 'M-SEARCH'])(
    'admission refuses %s, which is not a method of HTTP, with not-implemented',
    async (method) => {
      expect(await admissionOf((request) => ({ ...request, method }))).toBe('not-implemented');
    },
  );

  it.each(
    (
      'GET HEAD PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY ACL BIND CHECKOUT COPY LINK LOCK MERGE MKACTIVITY ' +
      'MKCALENDAR MKCOL MOVE PROPFIND PROPPATCH REBIND REPORT SEARCH UNBIND UNLINK UNLOCK'
    ).split(' '),
  )('admission refuses %s, a method of HTTP, with method-not-allowed', async (method) => {
    expect(await admissionOf((request) => ({ ...request, method }))).toBe('method-not-allowed');
  });

  it.each<[string, (request: Request) => Request]>([
    ['only HTTP/1.1 and HTTP/1.0 are served', (request) => ({ ...request, httpVersion: '2.0' })],
    ['a header is repeated', withFields({ Host: ['a', 'a'] })],
    ['a valid Host header is required', without('Host')],
    [
      'the authority of the target is not valid',
      (request) => ({ ...request, target: 'http://u@h/plants' }),
    ],
    [
      'HTTP/1.0 has no Transfer-Encoding',
      (request) => ({
        ...withFields({ 'Transfer-Encoding': 'chunked' })(request),
        httpVersion: '1.0',
      }),
    ],
  ])(
    'admission refuses invalid HTTP with a message that states the fault: %s',
    async (message, change) => {
      const admission = await serviceWith().admit(headOf(change(goodRequest)));
      const body = admission.response?.body ?? '{}';
      expect(JSON.parse(body)).toEqual({ error: 1000, message });
    },
  );

  it('admission returns the name of an accepted token, also if the request is refused for its content', async () => {
    for (const decision of [{ tokenName: 'ci' }, Promise.resolve({ tokenName: 'ci' })]) {
      const { admit } = serviceWith({ authenticate: () => decision });
      expect(await admit(headOf(goodRequest))).toEqual({ response: undefined, tokenName: 'ci' });
      const refused = await admit(headOf(without('Content-Type')(goodRequest)));
      expect(refused).toMatchObject({ response: { status: 415 }, tokenName: 'ci' });
    }
    expect(await serviceWith().admit(headOf(goodRequest))).toEqual({});
  });

  it.each([
    ['', '/plants'],
    ['/my garden/', '/my%20garden/plants'],
  ])('the message about another path names that of the operation: %j', async (basePath, path) => {
    const target = '/Plants';
    const { response } = await serviceWith({ basePath }).admit(headOf({ ...goodRequest, target }));
    const message = `there is nothing at this path; plants are created with POST ${path}`;
    expect(JSON.parse(response?.body ?? '')).toEqual({ error: 2404, message });
  });

  it.each([undefined, null, 0, 1, 'true', {}, [], { tokenName: 7 }])(
    'a request is refused with token-rejected if authenticate returns %j',
    async (decision) => {
      for (const returned of [decision, Promise.resolve(decision)]) {
        const { admit } = serviceWith({ authenticate: () => returned as never });
        expect(outcomeOf(await admit(headOf(goodRequest)))).toBe('token-rejected');
      }
    },
  );

  it('the cause of a refusal has no token if authenticate throws an error with the token', async () => {
    let sent = '';
    const fail = (token: string): never => {
      sent = token;
      throw new Error(`unknown token ${token}`);
    };
    for (const authenticate of [fail, async (token: string) => fail(token)]) {
      const admission = await serviceWith({ authenticate }).admit(headOf(goodRequest));
      expect(outcomeOf(admission)).toBe('internal');
      expect(sent).not.toBe('');
      expect(inspect(admission)).not.toContain(sent);
    }
  });

  it('a request is refused with headers-too-large if it has more than 200 fields', async () => {
    const { admit } = serviceWith();
    const head = headOf(goodRequest);
    expect(outcomeOf(await admit({ ...head, fieldCount: 200 }))).toBe('admitted');
    expect(outcomeOf(await admit({ ...head, fieldCount: 201 }))).toBe('headers-too-large');
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

  it.each([
    [{ 'Content-Type': 'text/plain' }, ['Accept', 'application/json']],
    [{ 'Content-Encoding': 'gzip' }, ['Accept-Encoding', 'identity']],
  ])('admission refuses %j with the field %j', async (fields, expected) => {
    const admission = await serviceWith().admit(headOf(withFields(fields)(goodRequest)));
    expect(outcomeOf(admission)).toBe('media-type-unsupported');
    const found = admission.response?.headers ?? [];
    expect(found.slice(-2)).toEqual(expected);
  });

  it('admission accepts a valid request', async () => {
    expect(await admissionOf((request) => request)).toBe('admitted');
  });

  it.each<[string, (request: Request) => Request]>([
    ['a scheme in any case', withFields({ Authorization: 'bEaReR good' })],
    ['many spaces before the token', withFields({ Authorization: 'Bearer    good' })],
    ['a media type in any case', withFields({ 'Content-Type': 'APPLICATION/json' })],
    [
      'a media type in any case with parameters',
      withFields({ 'Content-Type': 'Application/JSON ; charset=latin1' }),
    ],
    [
      'a media type between spaces and tabs',
      withFields({ 'Content-Type': '\t application/json \t;' }),
    ],
    [
      'a media type with a comma and an escaped quote in a quoted parameter',
      withFields({ 'Content-Type': 'application/json; a="b,\\",c"; d=e' }),
    ],
    ['the content encoding identity', withFields({ 'Content-Encoding': 'Identity' })],
    ['an expectation of 100-continue in any case', withFields({ Expect: '100-Continue' })],
    ['two expectations', withFields({ Expect: ['100-continue', '100-continue'] })],
    ['an expectation with empty elements', withFields({ Expect: ',\t100-continue ,,' })],
    ['an empty expectation', withFields({ Expect: '' })],
    ['many empty elements', withFields({ 'Content-Encoding': ' ,\t'.repeat(5_000) })],
    ['a percent-encoded path', (request) => ({ ...request, target: '/%70lant%73' })],
    ['a query', (request) => ({ ...request, target: '/plants?x=/y' })],
    [
      'a target in absolute-form',
      (request) => ({ ...request, target: 'http://elsewhere/plants?x' }),
    ],
    ['an IPv6 host', withFields({ Host: '[::1]:3000' })],
    [
      'field names in any case',
      (request) => ({
        ...without('Host')(request),
        fields: { ...without('Host')(request).fields, hOST: 'x' },
      }),
    ],
    ['a header named __proto__', withFields({ ['__proto__']: 'y', constructor: 'z' })],
    ['HTTP/1.0 without a Host', (request) => ({ ...without('Host')(request), httpVersion: '1.0' })],
    ['a declared length at the limit', withFields({ 'Content-Length': String(maxBodyBytes) })],
    [
      'a chunked body',
      (request) =>
        withFields({ 'Transfer-Encoding': 'Chunked' })(without('Content-Length')(request)),
    ],
  ])('admission accepts a request with %s', async (_, change) => {
    expect(await admissionOf(change)).toBe('admitted');
  });

  it.each<[ErrorName, string, (request: Request) => Request]>([
    ['bad-request', 'another version', (request) => ({ ...request, httpVersion: '2.0' })],
    [
      'bad-request',
      'chunks from HTTP/1.0',
      (request) => ({
        ...withFields({ 'Transfer-Encoding': 'chunked' })(request),
        httpVersion: '1.0',
      }),
    ],
    ['path-unknown', 'an empty authority', (request) => ({ ...request, target: 'http:///plants' })],
    ['bad-request', 'no Host', without('Host')],
    ['bad-request', 'two Hosts', withFields({ Host: ['a', 'a'] })],
    ['bad-request', 'an invalid Host', withFields({ Host: 'a/b' })],
    ['bad-request', 'an empty Host', withFields({ Host: '' })],
    [
      'bad-request',
      'two Authorizations',
      withFields({ Authorization: ['Bearer good', 'Bearer good'] }),
    ],
    [
      'bad-request',
      'two Content-Types',
      withFields({ 'Content-Type': ['application/json', 'application/json'] }),
    ],
    [
      'not-implemented',
      'another transfer encoding',
      withFields({ 'Transfer-Encoding': 'gzip, chunked' }),
    ],
    ['path-unknown', 'another path', (request) => ({ ...request, target: '/' })],
    ['path-unknown', 'a slash at the end', (request) => ({ ...request, target: '/plants/' })],
    ['path-unknown', 'a path in another case', (request) => ({ ...request, target: '/Plants' })],
    [
      'path-unknown',
      'a path that cannot be decoded',
      (request) => ({ ...request, target: '/plants%' }),
    ],
    ['path-unknown', 'the asterisk', (request) => ({ ...request, target: '*' })],
    ['path-unknown', 'two slashes', (request) => ({ ...request, target: '//plants' })],
    ['method-not-allowed', 'GET', (request) => ({ ...request, method: 'GET' })],
    ['method-not-allowed', 'OPTIONS', (request) => ({ ...request, method: 'OPTIONS' })],
    ['unauthenticated', 'no Authorization', without('Authorization')],
    ['unauthenticated', 'another scheme', withFields({ Authorization: 'Basic Z29vZDo=' })],
    ['unauthenticated', 'no token', withFields({ Authorization: 'Bearer ' })],
    ['unauthenticated', 'two tokens', withFields({ Authorization: 'Bearer good good' })],
    ['unauthenticated', 'a tab before the token', withFields({ Authorization: 'Bearer\tgood' })],
    ['unauthenticated', 'no space before the token', withFields({ Authorization: 'Bearergood' })],
    ['unauthenticated', 'a token with a comma', withFields({ Authorization: 'Bearer good,' })],
    ['token-rejected', 'another token', withFields({ Authorization: 'Bearer Good' })],
    [
      'token-rejected',
      'the token followed by an equals sign',
      withFields({ Authorization: 'Bearer good=' }),
    ],
    [
      'expectation-failed',
      'an expectation other than 100-continue',
      withFields({ Expect: '200-ok' }),
    ],
    ['expectation-failed', 'an expectation in a list', withFields({ Expect: '100-continue, x' })],
    [
      'expectation-failed',
      'an expectation without a comma',
      withFields({ Expect: '100-continue 100-continue' }),
    ],
    [
      'media-type-unsupported',
      'a content encoding with a parameter',
      withFields({ 'Content-Encoding': 'identity;q=1' }),
    ],
    [
      'media-type-unsupported',
      'white space that HTTP does not have in a list',
      withFields({ 'Content-Encoding': 'identity\xa0' }),
    ],
    [
      'media-type-unsupported',
      'a content encoding after many spaces',
      withFields({ 'Content-Encoding': `identity${' '.repeat(16_000)}gzip` }),
    ],
    ['media-type-unsupported', 'no media type', without('Content-Type')],
    [
      'media-type-unsupported',
      'another media type',
      withFields({ 'Content-Type': 'application/json5' }),
    ],
    [
      'media-type-unsupported',
      'two media types',
      withFields({ 'Content-Type': 'application/json, application/json' }),
    ],
    [
      'media-type-unsupported',
      'a media type after a parameter',
      withFields({ 'Content-Type': 'application/json; a=b, text/plain' }),
    ],
    [
      'media-type-unsupported',
      'text before the media type',
      withFields({ 'Content-Type': 'text/plain application/json' }),
    ],
    [
      'media-type-unsupported',
      'text after the media type',
      withFields({ 'Content-Type': 'application/json text/plain' }),
    ],
    [
      'media-type-unsupported',
      'an unfinished quoted parameter',
      withFields({ 'Content-Type': 'application/json; a="b' }),
    ],
    ['media-type-unsupported', 'a content encoding', withFields({ 'Content-Encoding': 'gzip' })],
    [
      'media-type-unsupported',
      'two content encodings',
      withFields({ 'Content-Encoding': ['identity', 'gzip'] }),
    ],
    [
      'body-too-large',
      'a declared length above the limit',
      withFields({ 'Content-Length': String(maxBodyBytes + 1) }),
    ],
    [
      'body-too-large',
      'a length of many digits',
      withFields({ 'Content-Length': '9'.repeat(400) }),
    ],
  ])('admission refuses a request with the error %s: %s', async (name, _, change) => {
    expect(await admissionOf(change)).toBe(name);
  });

  it('admission reports the first fault in the documented order', async () => {
    const inOrder: [ErrorName, (request: Request) => Request][] = [
      ['bad-request', withFields({ Host: 'a b' })],
      ['path-unknown', (request) => ({ ...request, target: '/elsewhere' })],
      ['method-not-allowed', (request) => ({ ...request, method: 'PUT' })],
      ['token-rejected', withFields({ Authorization: 'Bearer bad' })],
      ['expectation-failed', withFields({ Expect: 'unknown' })],
      ['media-type-unsupported', withFields({ 'Content-Type': 'text/plain' })],
      ['body-too-large', withFields({ 'Content-Length': '1001' })],
    ];
    await fc.assert(
      fc.asyncProperty(fc.subarray(inOrder, { minLength: 1 }), async (faults) => {
        const request = faults.reduce((changed, [, change]) => change(changed), goodRequest);
        expect(outcomeOf(await serviceWith().admit(headOf(request)))).toBe(faults[0]?.[0]);
      }),
    );
  });
});
