import type { Store } from './stores.ts';
import type { World } from './world.ts';

/** An act with its chosen values, `waitMs` after the act before it has begun. */
export type Step = {
  readonly act: string;
  readonly waitMs: number;
  readonly forMs: number;
  readonly [choice: string]: string | number;
};

/**
 * What an operator, another program or a disk does: the names of what it may cause until it has ended, separated by spaces;
 * values that the seed chooses; what begins it, whose result ends it `forMs` later, while other acts begin; and how often
 * it is chosen. Default is 2.
 */
export type Act<S extends Store = Store> = readonly [
  causes: string,
  choices: Readonly<Record<string, readonly (string | number)[]>>,
  run: (world: World<S>, step: Step) => Promise<(() => Promise<void>) | void>,
  weight?: number,
];

export type Acts<S extends Store = Store> = Readonly<Record<string, Act<S>>>;

/** A run: its settings, and the acts in their order. */
export type Plan = {
  readonly seed: number;
  readonly handlerMs: number;
  readonly shutdownMs: number;
  /** The number of clients. */
  readonly clients: number;
  /** Whether names are up to 80,000 characters long. */
  readonly isBig: boolean;
  /** Whether ids come in ascending order. */
  readonly isAscending: boolean;
  /** Whether the database is on an ext4 of its own. */
  readonly isMounted: boolean;
  readonly steps: readonly Step[];
};

/** Returns the plan of a seed. */
export function planOf<S extends Store>(seed: number, acts: Acts<S>, mayMount: boolean): Plan {
  const random = createRandom(seed);
  const names = Object.entries(acts).flatMap(([name, [, , , weight = 2]]) =>
    Array.from({ length: weight }, () => name),
  );
  return {
    seed,
    handlerMs: random.of([2_000, 5_000, 15_000]),
    shutdownMs: random.of([1_500, 4_000, 10_000]),
    clients: random.of([2, 4, 6]),
    isBig: random.next() < 0.3,
    isAscending: random.next() < 0.5,
    isMounted: random.next() < 0.3 && mayMount,
    steps: Array.from({ length: 3 + random.below(6) }, () => {
      const act = random.of(names);
      const chosen = Object.entries(acts[act]?.[1] ?? {}).map(
        ([choice, values]) => [choice, random.of(values)] as const,
      );
      return {
        act,
        waitMs: random.of([0, 0, 50, 200, 400, 800]),
        forMs: random.of([50, 400, 1_500, 3_000]),
        ...Object.fromEntries(chosen),
      };
    }),
  };
}

/** Creates a generator of random choices that a seed repeats (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** At least 0, less than 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** An integer from 0 to `limit` - 1. */
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, of: <T>(list: readonly T[]) => list[below(list.length)] as T };
}
