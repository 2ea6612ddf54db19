import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import fc from 'fast-check';
import { errAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import type { Admission } from './admit.ts';
import type { Answer } from './answer.ts';
import type { RequestHead } from './request-head.ts';
import { createService, type ServiceOptions } from './service.ts';

const maxBodyBytes = 1000;

const serviceWith = (options: Partial<ServiceOptions> = {}) =>
  createService({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    maxBodyBytes,
    ...options,
  });

type Fields = Record<string, string | readonly string[]>;
type Request = Omit<RequestHead, 'rawHeaders'> & { readonly fields: Fields };

const goodRequest: Request = {
  method: 'POST',
  target: '/plants',
  httpVersion: '1.1',
  fields: {
    Host: 'localhost:3000',
    Authorization: 'Bearer good',
    'Content-Type': 'application/json',
    'Content-Length': '30',
  },
};

const headOf = ({ fields, ...line }: Request): RequestHead => ({
  ...line,
  rawHeaders: Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, value]),
  ),
});

const withFields =
  (fields: Fields) =>
  (request: Request): Request => ({
    ...request,
    fields: { ...request.fields, ...fields },
  });

const without =
  (name: string) =>
  (request: Request): Request => {
    const { [name]: _, ...fields } = request.fields;
    return { ...request, fields };
  };

const outcomeOf = (admission: Admission): ErrorName | 'admitted' | undefined =>
  admission.kind === 'admitted' ? 'admitted' : admission.answer.error;

const admitted = async (change: (request: Request) => Request, options = {}) =>
  outcomeOf(await serviceWith(options).admit(headOf(change(goodRequest))));

const headersOf = (answer: Answer) => Object.fromEntries(answer.headers);

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('the admission of a request', () => {
  it('lets a good request in', async () => {
    expect(await admitted((request) => request)).toBe('admitted');
  });

  it.each<[string, (request: Request) => Request]>([
    ['a scheme in any case', withFields({ Authorization: 'bEaReR good' })],
    ['many spaces before the token', withFields({ Authorization: 'Bearer    good' })],
    [
      'a media type in any case with parameters',
      withFields({ 'Content-Type': 'Application/JSON ; charset=latin1' }),
    ],
    ['an identity encoding', withFields({ 'Content-Encoding': 'Identity' })],
    ['an expectation of 100-continue in any case', withFields({ Expect: '100-Continue' })],
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
    [
      'a body of the largest declared length',
      withFields({ 'Content-Length': String(maxBodyBytes) }),
    ],
    [
      'a chunked body',
      (request) =>
        withFields({ 'Transfer-Encoding': 'Chunked' })(without('Content-Length')(request)),
    ],
  ])('takes %s', async (_, change) => {
    expect(await admitted(change)).toBe('admitted');
  });

  it.each<[ErrorName, string, (request: Request) => Request]>([
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
      'the token with a sign at its end',
      withFields({ Authorization: 'Bearer good=' }),
    ],
    ['expectation-failed', 'another expectation', withFields({ Expect: '200-ok' })],
    [
      'expectation-failed',
      'two expectations',
      withFields({ Expect: ['100-continue', '100-continue'] }),
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
    ['media-type-unsupported', 'a content encoding', withFields({ 'Content-Encoding': 'gzip' })],
    [
      'media-type-unsupported',
      'two content encodings',
      withFields({ 'Content-Encoding': ['identity', 'gzip'] }),
    ],
    [
      'body-too-large',
      'a declared length past the limit',
      withFields({ 'Content-Length': String(maxBodyBytes + 1) }),
    ],
    [
      'body-too-large',
      'a length of many digits',
      withFields({ 'Content-Length': '9'.repeat(400) }),
    ],
  ])('answers %s to %s', async (name, _, change) => {
    expect(await admitted(change)).toBe(name);
  });

  it('asks for the first thing that is wrong, in the promised order, whatever else is', async () => {
    const inOrder: [ErrorName, (request: Request) => Request][] = [
      ['bad-request', withFields({ Host: 'a b' })],
      ['path-unknown', (request) => ({ ...request, target: '/elsewhere' })],
      ['method-not-allowed', (request) => ({ ...request, method: 'PUT' })],
      ['token-rejected', withFields({ Authorization: 'Bearer bad' })],
      ['expectation-failed', withFields({ Expect: 'miracles' })],
      ['media-type-unsupported', withFields({ 'Content-Type': 'text/plain' })],
      ['body-too-large', withFields({ 'Content-Length': '1001' })],
    ];
    await fc.assert(
      fc.asyncProperty(fc.subarray(inOrder, { minLength: 1 }), async (faults) => {
        const request = faults.reduce((changed, [, spoil]) => spoil(changed), goodRequest);
        expect(outcomeOf(await serviceWith().admit(headOf(request)))).toBe(faults[0]?.[0]);
      }),
    );
  });

  it.each([
    ['/garden/v1', '/garden/v1/plants', 'admitted'],
    ['/garden/v1/', '/garden/v1/plants', 'admitted'],
    ['/garden%20v1', '/garden%20v1/plants', 'admitted'],
    ['/', '/plants', 'admitted'],
    ['/garden/v1', '/plants', 'path-unknown'],
    ['/garden/v1', '/garden/v1//plants', 'path-unknown'],
  ])('with the base path %s answers %s: %s', async (basePath, target, expected) => {
    expect(await admitted((request) => ({ ...request, target }), { basePath })).toBe(expected);
  });

  it('lets nobody in where authenticate gives anything but true', async () => {
    for (const given of [false, undefined, null, 1, 'yes', {}, Promise.resolve(false)]) {
      const authenticate = () => given as boolean;
      expect(await admitted((request) => request, { authenticate })).toBe('token-rejected');
    }
    expect(await admitted((request) => request, { authenticate: async () => true })).toBe(
      'admitted',
    );
  });

  it('answers 500 where authenticate throws, and keeps the token out of the cause', async () => {
    for (const authenticate of [
      async (token: string) => Promise.reject(new Error(`no such token: ${token}`)),
      (token: string) => {
        throw new Error(`no such token: ${token}`);
      },
    ]) {
      const secret = withFields({ Authorization: 'Bearer s3cr3t' })(goodRequest);
      const admission = await serviceWith({ authenticate }).admit(headOf(secret));
      expect(outcomeOf(admission)).toBe('internal');
      expect(JSON.stringify(admission)).not.toContain('s3cr3t');
      expect(JSON.stringify(admission)).toContain('no such token: (token)');
    }
  });

  it('cannot be made with wrong options', () => {
    expect(() => serviceWith({ basePath: 'garden' })).toThrow('basePath must begin with a slash');
    expect(() => serviceWith({ maxBodyBytes: 0 })).toThrow('maxBodyBytes must be');
    expect(() => serviceWith({ authenticate: undefined as never })).toThrow('authenticate must be');
  });
});

describe('the answer to a body', () => {
  it('is the plant, without its id', async () => {
    const answer = await serviceWith().create(
      bytesOf('{"tag":"climber","id":7,"name":"Monstera"}'),
    );
    expect(answer).toMatchObject({ status: 200, body: '{"name":"Monstera","tag":"climber"}' });
  });

  it('has exactly the promised headers', async () => {
    const answer = await serviceWith().create(bytesOf('{"id":7,"name":"🪴"}'));
    expect(answer.headers).toEqual([
      ['Content-Type', 'application/json'],
      ['Content-Length', String(Buffer.byteLength('{"name":"🪴"}'))],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
    ]);
  });

  it.each<[ErrorName, string]>([
    ['body-missing', ''],
    ['json-malformed', '{"id":7,'],
    ['body-not-object', '[]'],
    ['body-not-object', 'null'],
    ['id-required', '{"name":"x"}'],
    ['id-not-integer', '{"id":"7","name":"x"}'],
    ['id-not-integer', '{"id":1.0000000000000000001,"name":"x"}'],
    ['id-out-of-range', '{"id":9223372036854775808,"name":"x"}'],
    ['id-out-of-range', '{"id":1e400,"name":"x"}'],
    ['name-required', '{"id":7}'],
    ['name-not-text', '{"id":7,"name":"\\ud800"}'],
    ['tag-not-text', '{"id":7,"name":"x","tag":null}'],
  ])('is %s to %s', async (name, body) => {
    const answer = await serviceWith().create(bytesOf(body));
    expect(answer).toMatchObject({ status: 400, error: name });
    expect(JSON.parse(answer.body)).toEqual({
      error: errorTable[name].error,
      message: expect.stringMatching(/\w/) as unknown,
    });
  });

  it('is encoding-invalid to what is not UTF-8', async () => {
    expect(await serviceWith().create(Uint8Array.of(0xff))).toMatchObject({
      error: 'encoding-invalid',
    });
  });

  it('tells the first fault by its number and every fault in its message', async () => {
    const answer = await serviceWith().create(bytesOf('{"tag":1,"name":2}'));
    const { error, message } = JSON.parse(answer.body) as { error: number; message: string };
    expect(error).toBe(1101);
    expect(message).toMatch(/^id .*; name .*; tag /);
  });

  it('is the same to the same plant, and id-taken to another one', async () => {
    const service = serviceWith();
    const first = await service.create(bytesOf('{"id":7.0,"name":"x"}'));
    expect(await service.create(bytesOf('{"name":"x","id":7e0}'))).toEqual(first);
    expect(await service.create(bytesOf('{"id":7,"name":"y"}'))).toMatchObject({
      status: 400,
      error: 'id-taken',
    });
  });

  it('is 503 with Retry-After where the store is not there, and only the log hears why', async () => {
    const repository: PlantRepository = {
      create: () => errAsync({ kind: 'store-unavailable', reason: 'the disk is full' }),
    };
    const answer = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(answer).toMatchObject({
      status: 503,
      error: 'unavailable',
      cause: { reason: 'the disk is full' },
    });
    expect(headersOf(answer)['Retry-After']).toMatch(/^\d+$/);
    expect(answer.body).not.toContain('disk');
  });

  it('is 500 without a detail where a repository breaks its promise', async () => {
    const repository: PlantRepository = {
      create: () => {
        throw new Error('a bug in /home/secret');
      },
    };
    const answer = await serviceWith({ repository }).create(bytesOf('{"id":7,"name":"x"}'));
    expect(answer).toMatchObject({
      status: 500,
      error: 'internal',
      cause: new Error('a bug in /home/secret'),
    });
    expect(answer.body).toBe('{"error":3500,"message":"something went wrong in the service"}');
  });

  it('never throws, and is always JSON of one of the two shapes', async () => {
    const service = serviceWith();
    const body = fc.oneof(fc.uint8Array(), fc.json().map(bytesOf), fc.string().map(bytesOf));
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const answer = await service.create(bytes);
        const keys = Object.keys(JSON.parse(answer.body) as object);
        if (answer.status === 200) expect(keys).not.toContain('id');
        else expect(keys).toEqual(['error', 'message']);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the headers of an error', () => {
  it.each<[ErrorName, (request: Request) => Request, Record<string, string>]>([
    [
      'unauthenticated',
      without('Authorization'),
      { 'WWW-Authenticate': 'Bearer realm="plantstore"' },
    ],
    [
      'token-rejected',
      withFields({ Authorization: 'Bearer bad' }),
      { 'WWW-Authenticate': 'Bearer realm="plantstore", error="invalid_token"' },
    ],
    ['method-not-allowed', (request) => ({ ...request, method: 'DELETE' }), { Allow: 'POST' }],
    ['media-type-unsupported', without('Content-Type'), { Accept: 'application/json' }],
    [
      'media-type-unsupported',
      withFields({ 'Content-Encoding': 'br' }),
      { 'Accept-Encoding': 'identity' },
    ],
  ])('say what %s wants', async (name, change, headers) => {
    const admission = await serviceWith().admit(headOf(change(goodRequest)));
    const answer = admission.kind === 'refused' ? admission.answer : undefined;
    expect(answer?.error).toBe(name);
    expect(headersOf(answer as Answer)).toEqual({
      'Content-Type': 'application/json',
      'Content-Length': String(answer?.body.length),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    });
  });
});
