import { describe, expect, it } from 'vitest';
import { assertNewPlant } from './assert-new-plant.ts';

describe('assertNewPlant', () => {
  it.each([
    { id: -(2n ** 63n), name: '' },
    { id: 2n ** 63n - 1n, name: '\ufffd', tag: '' },
  ])('assertNewPlant accepts a plant that can be stored exactly: %o', (plant) => {
    expect(() => assertNewPlant(plant)).not.toThrow();
  });

  it.each([
    [{ id: 2n ** 63n, name: 'x' }, RangeError, 'the id must be an int64'],
    [{ id: 7, name: 'x' }, TypeError, 'the id must be a bigint'],
    [{ id: 7n }, TypeError, 'no plant can have this name'],
    [{ id: 7n, name: '\0' }, TypeError, 'no plant can have this name'],
    [{ id: 7n, name: 'x', tag: null }, TypeError, 'no plant can have this tag'],
    [{ id: 7n, name: 'x', tag: '\udfff' }, TypeError, 'no plant can have this tag'],
  ] as const)(
    'assertNewPlant throws for a plant that cannot be stored exactly: %o',
    (plant, error, message) => {
      const assertion = () => assertNewPlant(plant as never);
      expect(assertion).toThrow(error);
      expect(assertion).toThrow(message);
    },
  );
});
