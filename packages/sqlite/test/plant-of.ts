import type { NewPlant } from '@plantstore/core';

/** Number of the first large plant: 50 of them cause a checkpoint. */
export const firstLarge = 9_000;

/** Returns the plant for a number up to 10,006. Ids are not sequential and names vary in size, so that pages split. */
export const plantOf = (number: number): NewPlant => ({
  id: BigInt((number * 7919) % 10_007),
  name: `plant ${number} ${'x'.repeat(number < firstLarge ? (number * 131) % 700 : 100_000)}`,
});
