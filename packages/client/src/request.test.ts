import { isRequired } from '@plantstore/core/wire';
import { describe, expect, it } from 'vitest';
import { hostile, untyped } from '../test/fixtures.ts';
import { prepareRequest } from './request.ts';
import { readSettings } from './settings.ts';

const cyclic: unknown[] = [];
cyclic.push(cyclic);

const settings = readSettings({ baseUrl: 'https://plants.example', token: 'a' });

/** Returns the body of the request, or the reason why it is invalid. */
const bodyOf = (newPlant: unknown) =>
  prepareRequest(settings, untyped(newPlant), {}).match<unknown>(
    ({ body }) => body,
    (error) => error.kind === 'request-invalid' && error.reason,
  );

describe('prepareRequest', () => {
  it.each([
    [9007199254740993n, '9007199254740993'],
    [2n ** 63n - 1n, '9223372036854775807'],
    [-(2n ** 63n), '-9223372036854775808'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [-7, '-7'],
    [-0, '0'],
  ])('prepareRequest writes the id %s as the number %s', (id, written) => {
    expect(bodyOf({ id, name: 'Monstera' })).toBe(`{"id":${written},"name":"Monstera"}`);
  });

  it.each([
    2 ** 53,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2n ** 63n,
    -(2n ** 63n) - 1n,
    '7',
    null,
    undefined,
    [7],
    { valueOf: () => 7 },
    new Number(7),
    Symbol('7'),
  ])('prepareRequest returns id-not-exact for the id %s', (id) => {
    expect(bodyOf({ id, name: 'Monstera' })).toBe('id-not-exact');
  });

  it('prepareRequest omits a tag that is undefined and sends an empty one', () => {
    expect(bodyOf({ id: 7, name: 'a', tag: undefined })).toBe('{"id":7,"name":"a"}');
    expect(bodyOf({ id: 7, name: 'a', tag: '' })).toBe('{"id":7,"name":"a","tag":""}');
  });

  it('prepareRequest does not validate name and tag', () => {
    expect(bodyOf({ id: 7, tag: null })).toBe('{"id":7,"tag":null}');
    expect(bodyOf({ id: 7, name: '\ud800' })).toBe('{"id":7,"name":"\\ud800"}');
  });

  it('prepareRequest reads each member once, including inherited ones', () => {
    const reads: string[] = [];
    const members: object = { id: 7, name: 'a', tag: 'b' };
    const inherited = new Proxy(members, {
      get: (target, key): unknown => {
        reads.push(String(key));
        return Reflect.get(target, key);
      },
    });
    const counting = Object.setPrototypeOf({}, inherited) as unknown;
    expect(bodyOf(counting)).toBe('{"id":7,"name":"a","tag":"b"}');
    expect(reads).toEqual(Object.keys(isRequired));
  });

  it.each([
    ['tag', { id: 7, name: 'a', tag: 5n }],
    ['name', { id: 7, name: cyclic }],
    ['id', undefined],
  ])('the message of plant-unwritable names the %s', (name, newPlant) => {
    const request = prepareRequest(settings, untyped(newPlant), {});
    expect(request._unsafeUnwrapErr().message).toBe(`${name} must be JSON`);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a proxy that throws', hostile],
    ['a bigint name', { id: 7, name: 7n }],
    ['a name that throws on access', { id: 7, name: hostile }],
    ['a throwing toJSON', { id: 7, name: { toJSON: () => JSON.parse('{') as unknown } }],
    ['a cyclic name', { id: 7, name: cyclic }],
  ])('prepareRequest returns plant-unwritable for %s', (_what, newPlant) => {
    expect(bodyOf(newPlant)).toBe('plant-unwritable');
  });
});
