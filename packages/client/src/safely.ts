/** What a function answers, or nothing where it throws. */
export const safely = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    return undefined;
  }
};

/** A member of any value at all; one that cannot be read counts as absent. */
export const readMember = (value: unknown, key: string): unknown =>
  safely((): unknown => Reflect.get(Object(value), key));

/** By its members, as a polyfill's signal or another realm's is as good. */
export const isSignal = (value: unknown): value is AbortSignal =>
  typeof readMember(value, 'aborted') === 'boolean' &&
  typeof readMember(value, 'addEventListener') === 'function';

export const isFunction = (value: unknown): value is (given: object) => unknown =>
  typeof value === 'function';

/** Runs a hook or a clean-up whose failure must break nothing, now or later. */
export const quietly = async (run: () => unknown): Promise<void> => {
  try {
    await run();
  } catch {
    // Nobody could use it.
  }
};

/** Lets timers and other work have their turn. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });
