import type { NewPlant } from '@plantstore/core';

/** A plant for each number up to 10,006: ids in no order and texts of many sizes, so that pages split. */
export const plantOf = (number: number): NewPlant => ({
  id: BigInt((number * 7919) % 10_007),
  name: `plant ${number} ${'x'.repeat((number * 131) % 700)}`,
});
