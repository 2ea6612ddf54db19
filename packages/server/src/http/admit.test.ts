import type { ErrorName } from '@plantstore/core/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, headWith } from '../../test/requests.ts';
import { admissionOf, outcomeOf, serviceWith } from '../../test/services.ts';

describe('admission', () => {
  it.each<[string, Change]>([
    ['only HTTP/1.1 and HTTP/1.0 are served', { httpVersion: '2.0' }],
    ['the header Host is repeated', { Host: ['a', 'a'] }],
    ['a valid Host header is required', { Host: undefined }],
    ['the authority of the target is not valid', { target: 'http://u@h/plants' }],
    ['HTTP/1.0 has no Transfer-Encoding', { 'Transfer-Encoding': 'chunked', httpVersion: '1.0' }],
  ])(
    'admission refuses invalid HTTP with a message that states the fault: %s',
    async (message, change) => {
      const admission = await serviceWith().admit(headWith(change));
      const body = admission.response?.body ?? '{}';
      expect(JSON.parse(body)).toEqual({ error: 1000, message });
    },
  );

  it('admission passes authenticate the operation that a token is used for', async () => {
    const asked: unknown[] = [];
    const { admit } = serviceWith({
      authenticate: (...args) => asked.push(args) > 0 && args[1].operation !== 'createPlant',
    });
    expect(await admit(headWith())).toMatchObject({ response: { status: 401 } });
    expect(asked).toEqual([['good', { operation: 'createPlant' }]]);
  });

  it.each([
    ['', '/plants'],
    ['/my garden/', '/my%20garden/plants'],
  ])('the message about another path names that of the operation: %j', async (basePath, path) => {
    const { response } = await serviceWith({ basePath }).admit(headWith({ target: '/Plants' }));
    const message = `there is nothing at this path; plants are created with POST ${path}`;
    expect(JSON.parse(response?.body ?? '')).toEqual({ error: 2404, message });
  });

  it.each([
    false,
    undefined,
    null,
    1,
    'true',
    {},
    [],
    { tokenName: 7 },
    { name: 'a' },
    { then: 1 },
  ])('a request is refused with token-rejected if authenticate returns %j', async (decision) => {
    for (const returned of [decision, Promise.resolve(decision)]) {
      const { admit } = serviceWith({ authenticate: () => returned as never });
      expect(outcomeOf(await admit(headWith()))).toBe('token-rejected');
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
      const secret = headWith({ Authorization: 'Bearer s3cr3t' });
      const admission = await serviceWith({ authenticate }).admit(secret);
      expect(outcomeOf(admission)).toBe('internal');
      expect(JSON.stringify(admission)).not.toContain('s3cr3t');
      expect(JSON.stringify(admission)).toContain('no such token: …');
    }
  });

  it('admission is decided at once, unless authenticate returns a promise', () => {
    const decisions = [true, false, { tokenName: 'ci' }, Promise.resolve(true)];
    const areLater = decisions.map((decision) => {
      const { admit } = serviceWith({ authenticate: () => decision });
      return admit(headWith()) instanceof Promise;
    });
    expect(areLater).toEqual([false, false, false, true]);
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
      fc.asyncProperty(fc.subarray(inOrder), async (faults) => {
        const all: Change = Object.assign({}, ...faults.map(([, change]) => change));
        expect(await admissionOf(all)).toBe(faults[0]?.[0] ?? 'admitted');
      }),
    );
  });
});
