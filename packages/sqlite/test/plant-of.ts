import type { NewPlant } from '@plantstore/core';
import { walLimit } from '../src/commit/checkpoints.ts';

/** What a process prints when the store did not recover from failed syncs. */
export const notRecovered = 'the store did not recover';

/** Number of the first large plant: 50 of them cause a checkpoint. */
export const firstLarge = 9_000;

/** Number of the first huge plant: each causes a checkpoint. */
export const firstHuge = 10_000;

const extraOf = (number: number): number => {
  if (number >= firstHuge) return walLimit;
  return number < firstLarge ? (number * 131) % 700 : Math.ceil(walLimit / 50);
};

/** Returns the plant for a number up to 10,006. Ids are not sequential and names vary in size, so that pages split. */
export const plantOf = (number: number): NewPlant => ({
  id: BigInt((number * 7919) % 10_007),
  name: `plant ${number} ${'x'.repeat(extraOf(number))}`,
});
