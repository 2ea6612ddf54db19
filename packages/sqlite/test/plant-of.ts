import type { NewPlant } from '@plantstore/core';

/** Number of the first large plant: 50 of them cause a checkpoint. */
export const firstLarge = 9_000;

/** Number of the first huge plant: each causes a checkpoint. */
export const firstHuge = 10_000;

const extraOf = (number: number): number => {
  if (number >= firstHuge) return 9 * 2 ** 20;
  return number < firstLarge ? (number * 131) % 700 : 100_000;
};

/** Returns the plant for a number up to 10,006. Ids are not sequential and names vary in size, so that pages split. */
export const plantOf = (number: number): NewPlant => ({
  id: BigInt((number * 7919) % 10_007),
  name: `plant ${number} ${'x'.repeat(extraOf(number))}`,
});
