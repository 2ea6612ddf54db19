/** Returns the result of a function, or `undefined` if it throws. */
export const undefinedOnThrow = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    return undefined;
  }
};

/** Returns a member of any value, or `undefined` if it cannot be read. */
export const readMember = (value: unknown, key: string): unknown =>
  undefinedOnThrow(() => (value as { readonly [key: string]: unknown } | null | undefined)?.[key]);

export const isFunction = (value: unknown): value is (...args: never[]) => unknown =>
  typeof value === 'function';

/** Returns whether a value has the members of an AbortSignal; accepts polyfills and other realms. */
export const isSignal = (value: Partial<AbortSignal>): value is AbortSignal =>
  typeof value.aborted === 'boolean' && isFunction(value.addEventListener);

/** Runs a hook or a clean-up, without waiting for it, and ignores its errors. */
export const ignoreErrors = async (run: () => unknown): Promise<void> => {
  try {
    await run();
  } catch {
    // The result of a call does not depend on it.
  }
};

/** Waits for the next turn of the event loop, so that timers and other work can run. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });
