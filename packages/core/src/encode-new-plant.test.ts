import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from './decode-body.ts';
import { encodeNewPlant, isExactId } from './encode-new-plant.ts';
import { parseNewPlant } from './parse-new-plant.ts';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.string({ unit: 'binary' }).filter((one) => !one.includes('\0'));

describe('encodeNewPlant', () => {
  it('encodeNewPlant writes the id as an exact JSON number', () => {
    expect(encodeNewPlant({ id: 9223372036854775807n, name: 'Monstera' })).toBe(
      '{"id":9223372036854775807,"name":"Monstera"}',
    );
    expect(encodeNewPlant({ id: -0, name: '0', tag: '$&' })).toBe('{"id":0,"name":"0","tag":"$&"}');
  });

  it('encodeNewPlant omits a tag that is undefined', () => {
    expect(encodeNewPlant({ id: 1, name: '', tag: undefined })).toBe('{"id":1,"name":""}');
  });

  it('encodeNewPlant writes JSON that decodes to the same plant, for every id and text', () => {
    const plant = fc.record({ id: int64, name: text, tag: text }, { requiredKeys: ['id', 'name'] });
    fc.assert(
      fc.property(plant, (newPlant) => {
        const bytes = new TextEncoder().encode(encodeNewPlant(newPlant));
        expect(decodeBody(bytes).andThen(parseNewPlant)._unsafeUnwrap()).toEqual(newPlant);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('isExactId', () => {
  it('isExactId is true for every int64 and every safe integer, and false for other values', () => {
    fc.assert(fc.property(int64, (id) => isExactId(id)));
    fc.assert(fc.property(fc.maxSafeInteger(), (id) => isExactId(id)));
    for (const id of [
      2n ** 63n,
      -(2n ** 63n) - 1n,
      2 ** 53,
      1.5,
      Number.NaN,
      Infinity,
      '7',
      null,
    ]) {
      expect(isExactId(id)).toBe(false);
    }
  });
});
