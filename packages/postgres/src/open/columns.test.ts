import { copyPlant, toTexts } from '@plantstore/core/wire';
import { similarPlants } from '@plantstore/test-support/contract-plants';
import { expect, it } from 'vitest';
import { plantOf, textNames } from './columns.ts';

it('a row of texts has each plant of the contract', () => {
  for (const plant of similarPlants.flat()) {
    const texts = toTexts(plant);
    const row = ['7', ...textNames.map((name) => texts[name] ?? null)];
    expect(plantOf(row)).toStrictEqual(copyPlant({ id: 7n, ...plant }));
  }
});
