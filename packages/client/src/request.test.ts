import { memberNames } from '@plantstore/core/wire';
import { describe, expect, it } from 'vitest';
import { createTestClient, hostile, plant, throwing, untyped } from '../test/fixtures.ts';
import type { ClientOptions } from './index.ts';

const cyclic: unknown[] = [];
cyclic.push(cyclic);

/** Returns the body and the URL of the request, or the error of a call that sends none. */
const requestOf = async (newPlant: unknown, options: Partial<ClientOptions> = {}) => {
  const sent: { url: string; body: string }[] = [];
  const client = createTestClient(async (url, { body }) => {
    sent.push({ url, body });
    return new Response('');
  }, options);
  const { kind, message } = (await client.createPlant(untyped(newPlant)))._unsafeUnwrapErr();
  return sent[0] ?? { kind, message };
};
const bodyOf = async (newPlant: unknown) =>
  requestOf(newPlant).then((sent) => 'body' in sent && sent.body);

describe('the body of a request', () => {
  it.each([
    [9007199254740993n, '9007199254740993'],
    [2n ** 63n - 1n, '9223372036854775807'],
    [-(2n ** 63n), '-9223372036854775808'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [-0, '0'],
  ])('the body of a request has the id %s as the number %s', async (id, written) => {
    expect(await bodyOf({ id, name: 'Monstera' })).toBe(`{"id":${written},"name":"Monstera"}`);
  });

  it.each([2 ** 53, 1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n, '7', null, undefined, [7]])(
    'a request is invalid with the id %s, which is not exact',
    async (id) => {
      expect(await requestOf({ id, name: 'Monstera' })).toEqual({
        kind: 'request-invalid',
        message: 'id must be a bigint in int64 range, or a safe integer',
      });
    },
  );

  it.each([
    [{ id: 7, name: 'a', tag: undefined }, '{"id":7,"name":"a"}'],
    [{ id: 7, name: 'a', tag: '' }, '{"id":7,"name":"a","tag":""}'],
    // The service validates them.
    [{ id: 7, tag: null }, '{"id":7,"tag":null}'],
    [{ id: 7, name: '\ud800' }, '{"id":7,"name":"\\ud800"}'],
  ])('the body of a request for %o is %s', async (newPlant, body) => {
    expect(await bodyOf(newPlant)).toBe(body);
  });

  it('the body of a request has members that were read once, including inherited ones', async () => {
    const reads: string[] = [];
    const members: object = { id: 7, name: 'a', tag: 'b' };
    const inherited = new Proxy(members, {
      get: (target, key): unknown => {
        reads.push(String(key));
        return Reflect.get(target, key);
      },
    });
    expect(await bodyOf(Object.setPrototypeOf({}, inherited))).toBe(
      '{"id":7,"name":"a","tag":"b"}',
    );
    expect(reads).toEqual(memberNames);
  });

  it.each<[string, string, unknown]>([
    ['tag', 'that is a bigint', { id: 7, name: 'a', tag: 5n }],
    ['name', 'that is cyclic', { id: 7, name: cyclic }],
    ['name', 'that throws on access', { id: 7, name: hostile }],
    ['name', 'whose toJSON throws', { id: 7, name: { toJSON: throwing('no') } }],
    ['id', 'of undefined', undefined],
    ['id', 'of a proxy that throws', hostile],
  ])('a request is invalid with a %s %s, which cannot be written', async (name, _, newPlant) => {
    expect(await requestOf(newPlant)).toEqual({
      kind: 'request-invalid',
      message: `${name} must be JSON`,
    });
  });
});

describe('the URL of a request', () => {
  it.each([
    ['https://plants.example', 'https://plants.example/plants'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000/plants'],
    ['http://[::1]:3000', 'http://[::1]:3000/plants'],
    ['HTTPS://plants.example/garden/v1', 'https://plants.example/garden/v1/plants'],
    ['https://plants.example/a@b/', 'https://plants.example/a@b/plants'],
    [new URL('https://plants.example/garden'), 'https://plants.example/garden/plants'],
  ])('the URL of a request for the base URL %s is %s', async (baseUrl, url) => {
    expect(await requestOf(plant, { baseUrl })).toMatchObject({ url });
  });

  it.each([
    ['https://ada:pw@plants.example', 'https://:pw@plants.example', 'https://@plants.example'],
    ['http:///plants.example', 'http:/\\plants.example', 'https:', 'https://', '/garden', ''],
    ['https://plants.example\u0001', 'https://plants.example/\0', 'https://pla\tnts.example'],
    [' https://plants.example', 'https://plants.example\n', 'plants.example', 'https://pl[ants'],
    ['https://plants.example?a=1', 'https://plants.example/?', 'https://plants.example/#'],
    ['ftp://plants.example', 'javascript:alert(1)', 'https://plants.example:99999'],
    [undefined, null, 7, Symbol('a'), ['https://plants.example'], hostile],
    [new URL('https://ada@plants.example'), new URL('https://plants.example?a=1')],
  ])('a request is invalid with a base URL that is no plain http(s) URL: %s', async (...urls) => {
    for (const baseUrl of urls)
      expect(await requestOf(plant, { baseUrl: untyped(baseUrl) })).toEqual({
        kind: 'request-invalid',
        message: 'baseUrl must be an absolute http(s) URL without user info',
      });
  });
});
