import { copyPlant } from '@plantstore/core/wire';
import { similarPlants } from '@plantstore/test-support/contract-plants';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plantOf, rowsOf, toBatch } from './columns.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 5 });

it('a batch keeps every id and text, and distinguishes an absent text from an empty one', () => {
  const plants = fc.array(
    fc.record(
      { id: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), name: text, tag: text },
      { requiredKeys: ['id', 'name'], noNullPrototype: true },
    ),
  );
  fc.assert(
    fc.property(plants, (batch) => {
      expect(rowsOf(structuredClone(toBatch(batch))).map(plantOf)).toStrictEqual(batch);
    }),
  );
});

it('a batch keeps each plant of the contract', () => {
  const plants = similarPlants.flat().map((plant, index) => ({ id: BigInt(index), ...plant }));
  expect(rowsOf(toBatch(plants)).map(plantOf)).toStrictEqual(plants.map(copyPlant));
});
