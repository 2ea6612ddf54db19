import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { goodRequest, headOf, type Request, withFields, without } from '../../test/requests.ts';
import { admissionOf, outcomeOf, serviceWith } from '../../test/services.ts';
import { pairsOf } from './responses.ts';
import type { ResponseData } from './responses.ts';

const headersOf = (response: ResponseData) => Object.fromEntries(pairsOf(response.headers));

describe('service options', () => {
  it.each([
    ['/garden/v1', '/garden/v1/plants', 'admitted'],
    ['/garden/v1/', '/garden/v1/plants', 'admitted'],
    ['/garden%20v1', '/garden%20v1/plants', 'admitted'],
    ['/', '/plants', 'admitted'],
    ['', '/plants', 'admitted'],
    ['/50%25', '/50%25/plants', 'admitted'],
    ['/%2541', '/%41/plants', 'path-unknown'],
    ['/%2541', '/%2541/plants', 'admitted'],
    ['/garden/v1', '/plants', 'path-unknown'],
    ['/garden/v1', '/garden/v1//plants', 'path-unknown'],
  ])('a service with the base path %s responds to %s: %s', async (basePath, target, expected) => {
    expect(await admissionOf((request) => ({ ...request, target }), { basePath })).toBe(expected);
  });

  it('a service admits a request only if authenticate returns or resolves to true', async () => {
    for (const decision of [
      false,
      undefined,
      null,
      1,
      'yes',
      {},
      { tokenName: 7 },
      Promise.resolve(false),
      Promise.resolve(null),
      Promise.resolve({ tokenName: undefined }),
    ]) {
      const authenticate = () => decision as boolean;
      expect(await admissionOf((request) => request, { authenticate })).toBe('token-rejected');
    }
    expect(await admissionOf((request) => request, { authenticate: async () => true })).toBe(
      'admitted',
    );
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
      const secret = withFields({ Authorization: 'Bearer s3cr3t' })(goodRequest);
      const admission = await serviceWith({ authenticate }).admit(headOf(secret));
      expect(outcomeOf(admission)).toBe('internal');
      expect(JSON.stringify(admission)).not.toContain('s3cr3t');
      expect(JSON.stringify(admission)).toContain('no such token: …');
    }
  });

  it('a service throws a TypeError for a wrong option', () => {
    for (const basePath of ['garden', '/a/../b', '/a?b']) {
      expect(() => serviceWith({ basePath })).toThrow('basePath must be a path that begins with');
    }
    for (const repository of [{}, undefined]) {
      expect(() => serviceWith({ repository: repository as never })).toThrow(
        'repository must have',
      );
    }
    expect(() => serviceWith({ maxBodyBytes: 0 })).toThrow('maxBodyBytes must be');
    expect(() => serviceWith({ authenticate: undefined as never })).toThrow('authenticate must be');
  });
});

describe('headers of an error response', () => {
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
  ])('the headers of an error response are complete for %s', async (name, change, headers) => {
    const admission = await serviceWith().admit(headOf(change(goodRequest)));
    const response = admission.response;
    expect(response?.error).toBe(errorTable[name].error);
    expect(headersOf(response as ResponseData)).toEqual({
      'Content-Type': 'application/json',
      'Content-Length': String(response?.body.length),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    });
  });
});
