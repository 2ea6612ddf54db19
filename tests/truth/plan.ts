import type { Store } from './store.ts';
import type { World } from './world.ts';

/** An act of a run with what the seed has chosen. */
export type Step = {
  readonly act: string;
  /** Time since the act before it has begun. */
  readonly waitMs: number;
  /** Time until it is ended, while other acts begin. */
  readonly forMs: number;
  readonly chosen: Readonly<Record<string, string | number>>;
};

/** What an operator, another program, a disk or a network does. */
export type Act<S extends Store = Store> = {
  readonly weight: number;
  readonly causes: string;
  readonly choices: Choices;
  readonly begin: (world: World<S>, chosen: never) => Promise<End | void>;
};

export type Acts<S extends Store> = Readonly<Record<string, Act<S>>>;
type Choices = Readonly<Record<string, readonly (string | number)[]>>;
type End = () => Promise<unknown>;

/**
 * Returns a function that describes an act: how often it is chosen, what it may cause until it has
 * ended, values of which one each is chosen, and what begins it, which resolves to what ends it.
 */
export const actOn =
  <S extends Store>() =>
  <const C extends Choices>(
    weight: number,
    causes: string,
    choices: C,
    begin: (
      world: World<S>,
      chosen: { readonly [Name in keyof C]: C[Name][number] },
    ) => Promise<End | void>,
  ): Act<S> => ({ weight, causes, choices, begin });

/** A run: its settings, and its acts in their order. */
export type Plan = {
  readonly seed: number;
  readonly handlerMs: number;
  readonly shutdownMs: number;
  readonly clients: number;
  /** Whether names are up to 80,000 characters long. */
  readonly isBig: boolean;
  readonly hasAscendingIds: boolean;
  /** Whether the database is on an ext4 of its own. */
  readonly isMounted: boolean;
  readonly steps: readonly Step[];
};

/** Returns the plan of a seed. */
export function planOf<S extends Store>(seed: number, acts: Acts<S>, mayMount: boolean): Plan {
  const random = createRandom(seed);
  const names = Object.entries(acts).flatMap(([name, { weight }]) =>
    Array.from({ length: weight }, () => name),
  );
  return {
    seed,
    handlerMs: random.of([2_000, 5_000, 15_000]),
    shutdownMs: random.of([1_500, 4_000, 10_000]),
    clients: random.of([2, 4, 6]),
    isBig: random.below(10) < 3,
    hasAscendingIds: random.below(2) === 0,
    isMounted: random.below(10) < 3 && mayMount,
    steps: Array.from({ length: 3 + random.below(6) }, () => {
      const act = random.of(names);
      const choices = Object.entries(acts[act]?.choices ?? {});
      return {
        act,
        chosen: Object.fromEntries(choices.map(([name, values]) => [name, random.of(values)])),
        waitMs: random.of([0, 0, 50, 100, 200, 500]),
        forMs: random.of([50, 300, 1_000, 2_500]),
      };
    }),
  };
}

/** Creates a generator of random choices that a seed repeats (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** Returns an integer from 0 to `limit` - 1. */
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, of: <T>(list: readonly T[]) => list[below(list.length)] as T };
}
