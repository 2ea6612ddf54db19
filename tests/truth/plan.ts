import { createRandom } from './random.ts';
import type { Store } from './stores.ts';
import type { World } from './world.ts';

/** Values of an act that are chosen by the seed. */
type Choices = Readonly<Record<string, readonly (string | number)[]>>;

/** What an operator, another program or a disk does. */
export type Act<S extends Store = Store> = {
  /** Names of what it may cause, until it has ended. */
  readonly causes: readonly string[];
  readonly choices: Choices;
  /** Begins the act. What it returns ends it, `forMs` later, while other acts begin. */
  readonly run: (world: World<S>, step: Step) => Promise<(() => Promise<void>) | void>;
  /** How often it is chosen. */
  readonly weight: number;
};

export type Acts<S extends Store = Store> = Readonly<Record<string, Act<S>>>;

/** Creates an act. The names of causes are separated by spaces. */
export const act = <S extends Store>(
  causes: string,
  choices: Choices,
  run: Act<S>['run'],
  weight = 2,
): Act<S> => ({ causes: causes.split(' ').filter((one) => one !== ''), choices, run, weight });

/** An act with its chosen values, `waitMs` after the act before it has begun. */
export type Step = {
  readonly act: string;
  readonly waitMs: number;
  readonly forMs: number;
  readonly [choice: string]: string | number;
};

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
  const names = Object.entries(acts).flatMap(([name, { weight }]) =>
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
      const name = random.of(names);
      const chosen = Object.entries(acts[name]?.choices ?? {}).map(
        ([choice, values]) => [choice, random.of(values)] as const,
      );
      return {
        act: name,
        waitMs: random.of([0, 0, 50, 200, 400, 800]),
        forMs: random.of([50, 400, 1_500, 3_000]),
        ...Object.fromEntries(chosen),
      };
    }),
  };
}
