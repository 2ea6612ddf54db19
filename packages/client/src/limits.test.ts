import { describe, expect, it } from 'vitest';
import { hostile } from '../test/fixtures.ts';
import { defaultLimits, readSettings } from './settings.ts';

const limitsOf = (limits: object) =>
  readSettings({ baseUrl: 'https://plants.example', token: 'a', ...limits }).limits;

const timeoutOf = (attemptTimeoutMs: unknown) => limitsOf({ attemptTimeoutMs }).attemptTimeoutMs;

describe('readSettings', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['-1', -1],
    ['0', 0],
    ['-Infinity', -Infinity],
    ['a string', '5'],
    ['a bigint', 5n],
    ['an object', {}],
    ['a value whose members throw', hostile],
  ])('the attempt timeout is its default if the option is %s', (_, invalid) => {
    expect(timeoutOf(invalid)).toBe(defaultLimits.attemptTimeoutMs);
  });

  it('readSettings accepts every positive number up to the longest timer', () => {
    expect([0.5, 1, 2 ** 31 - 1, 2 ** 31, Infinity].map(timeoutOf)).toEqual([
      0.5,
      1,
      2 ** 31 - 1,
      2 ** 31 - 1,
      2 ** 31 - 1,
    ]);
  });

  it.each([-0.5, -Number.MIN_VALUE])(
    'readSettings uses the default of a limit for %s, which is below 0',
    (below) => {
      const settings = { retries: below, retryDelayMs: below, maxRetryDelayMs: below };
      expect(limitsOf(settings)).toMatchObject(defaultLimits);
    },
  );

  it('readSettings accepts 0 for no retries and no delay', () => {
    const none = { retries: 0, retryDelayMs: 0, maxRetryDelayMs: 0 };
    expect(limitsOf(none)).toMatchObject(none);
  });
});
