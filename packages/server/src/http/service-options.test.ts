import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { describe, expect, it } from 'vitest';
import { type Change, headOf, requestWith } from '../../test/requests.ts';
import { admissionOf, serviceWith } from '../../test/services.ts';
import { pairsOf, type ResponseData } from './responses.ts';

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
    expect(await admissionOf({ target }, { basePath })).toBe(expected);
  });

  it('a service throws a TypeError for a wrong option', () => {
    for (const basePath of ['garden', '/a/../b', '/a?b', '/garden"']) {
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
  it.each<[ErrorName, Change, Record<string, string>]>([
    [
      'unauthenticated',
      { Authorization: undefined },
      { 'WWW-Authenticate': 'Bearer realm="plantstore"' },
    ],
    [
      'token-rejected',
      { Authorization: 'Bearer bad' },
      { 'WWW-Authenticate': 'Bearer realm="plantstore", error="invalid_token"' },
    ],
    ['method-not-allowed', { method: 'DELETE' }, { Allow: 'POST' }],
    ['media-type-unsupported', { 'Content-Type': undefined }, { Accept: 'application/json' }],
    ['media-type-unsupported', { 'Content-Encoding': 'br' }, { 'Accept-Encoding': 'identity' }],
  ])('the headers of an error response are complete for %s', async (name, change, headers) => {
    const admission = await serviceWith().admit(headOf(requestWith(change)));
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
