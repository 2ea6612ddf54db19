import { okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { assertNewPlant, createValidated } from './assert-new-plant.ts';

describe('assertNewPlant', () => {
  it.each([
    { id: -(2n ** 63n), name: '' },
    { id: 2n ** 63n - 1n, name: '\ufffd', tag: '' },
  ])('accepts a plant that can be stored exactly: %o', (plant) => {
    expect(() => assertNewPlant(plant)).not.toThrow();
  });

  it.each([
    [{ id: 2n ** 63n, name: 'x' }, RangeError, 'the id must be an int64'],
    [{ id: 7, name: 'x' }, TypeError, 'the id must be a bigint'],
    [{ id: 7n }, TypeError, 'name and tag must be Unicode text'],
    [{ id: 7n, name: '\0' }, TypeError, 'name and tag must be Unicode text'],
    [{ id: 7n, name: 'x', tag: null }, TypeError, 'name and tag must be Unicode text'],
    [{ id: 7n, name: 'x', tag: '\udfff' }, TypeError, 'name and tag must be Unicode text'],
  ] as const)('throws for a plant that cannot be stored exactly: %o', (plant, error, message) => {
    const check = () => assertNewPlant(plant as never);
    expect(check).toThrow(error);
    expect(check).toThrow(message);
  });
});

describe('createValidated', () => {
  const valid = { id: 7n, name: 'Monstera', tag: 'climber' };

  /** Returns what assertNewPlant throws for a plant in the repository that a validated plant is passed to. */
  const thrownFor = (change: (plant: typeof valid) => unknown): unknown => {
    let thrown: unknown;
    const create = (plant: unknown) => {
      try {
        assertNewPlant(change(plant as typeof valid) as never);
      } catch (error) {
        thrown = error;
      }
      return okAsync();
    };
    void createValidated({ create }, { ...valid });
    return thrown;
  };

  it.each([
    ['the plant', (plant: object) => plant],
    ['a copy of it', (plant: object) => ({ ...plant })],
    ['another valid plant', () => ({ id: 8n, name: 'Ficus' })],
  ])('createValidated lets assertNewPlant accept %s', (_, change) => {
    expect(thrownFor(change)).toBe(undefined);
  });

  it.each([
    ['another id', (plant: object) => Object.assign(plant, { id: 2n ** 63n })],
    ['another name', (plant: object) => Object.assign(plant, { name: '\0' })],
    ['another tag', (plant: object) => Object.assign(plant, { tag: '\ud800' })],
    ['no members', () => ({})],
  ])('createValidated lets assertNewPlant reject %s that the repository has set', (_, change) => {
    expect(thrownFor(change)).toBeInstanceOf(Error);
  });

  it('createValidated does not affect assertNewPlant after the call', () => {
    const plant = { ...valid, name: '\0' };
    void createValidated({ create: () => okAsync() }, plant);
    expect(() => assertNewPlant(plant)).toThrow(TypeError);
    const create = () => {
      throw new Error('a bug');
    };
    expect(() => createValidated({ create }, plant)).toThrow('a bug');
    expect(() => assertNewPlant(plant)).toThrow(TypeError);
  });
});
