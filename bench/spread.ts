import type { Spread } from './results.ts';

/** The middle of several rounds, and how far they are apart. */
export const spreadOf = (rounds: readonly number[]): Spread => {
  const sorted = rounds.toSorted((one, other) => one - other);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const half = sorted.length / 2;
  const median = (at(Math.ceil(half) - 1) + at(Math.floor(half))) / 2;
  return { median, least: at(0), most: at(sorted.length - 1) };
};

/** A spread as a person reads it: "1.23 (1.20–1.31)". */
export const inWords = ({ median, least, most }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
