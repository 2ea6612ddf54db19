import type { NewPlant } from '@plantstore/core';

/** Number of the first plant that is large: 50 of them have moved the log into the file. */
export const firstLarge = 9_000;

/** A plant for each number up to 10,006: ids in no order and texts of many sizes, so that pages split. */
export const plantOf = (number: number): NewPlant => ({
  id: BigInt((number * 7919) % 10_007),
  name: `plant ${number} ${'x'.repeat(number < firstLarge ? (number * 131) % 700 : 100_000)}`,
});
