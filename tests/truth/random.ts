/** Random choices that a seed repeats. */
export type Random = {
  /** At least 0, less than 1. */
  readonly next: () => number;
  /** An integer from 0 to `limit` - 1. */
  readonly below: (limit: number) => number;
  readonly of: <T>(list: readonly [T, ...T[]] | readonly T[]) => T;
};

/** Creates a generator (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, of: (list) => list[below(list.length)] as (typeof list)[number] };
}
