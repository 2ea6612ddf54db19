import { describe, expect, it } from 'vitest';
import { errorTable, type ErrorName, isRefusal } from './errors.ts';

const names = Object.keys(errorTable) as ErrorName[];

describe('error table', () => {
  it('the error table has every number that was ever published', () => {
    expect(names.map((name) => [name, errorTable[name].error, errorTable[name].status])).toEqual([
      ['bad-request', 1000, 400],
      ['body-missing', 1001, 400],
      ['json-malformed', 1002, 400],
      ['encoding-invalid', 1003, 400],
      ['body-not-object', 1004, 400],
      ['id-required', 1101, 400],
      ['id-not-integer', 1102, 400],
      ['id-out-of-range', 1103, 400],
      ['name-required', 1201, 400],
      ['name-not-text', 1202, 400],
      ['tag-not-text', 1301, 400],
      ['id-taken', 1401, 400],
      ['unauthenticated', 2401, 401],
      ['token-rejected', 2402, 401],
      ['path-unknown', 2404, 404],
      ['method-not-allowed', 2405, 405],
      ['request-timeout', 2408, 408],
      ['body-too-large', 2413, 413],
      ['media-type-unsupported', 2415, 415],
      ['expectation-failed', 2417, 417],
      ['headers-too-large', 2431, 431],
      ['not-implemented', 2501, 501],
      ['internal', 3500, 500],
      ['unavailable', 3503, 503],
    ]);
  });

  it('the error table has no number from 4000 to 4999, the range of refusals', () => {
    for (const name of names) expect(isRefusal(errorTable[name].error)).toBe(false);
    for (const error of [4000, 4999]) expect(isRefusal(error)).toBe(true);
    for (const error of [3999, 5000, 4000.5, Number.NaN]) expect(isRefusal(error)).toBe(false);
  });

  it('the error table has a different message for each error', () => {
    const sentences = names.map((name) => errorTable[name].message);
    expect(new Set(sentences).size).toBe(names.length);
    for (const sentence of sentences) expect(sentence).toMatch(/^[a-zA-Z].*[^.]$/);
  });
});
