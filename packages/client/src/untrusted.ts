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

export const isFunction = (value: unknown): value is (argument?: object) => unknown =>
  typeof value === 'function';

/** Returns whether a value has the members of an AbortSignal; accepts polyfills and other realms. */
export const isSignal = (value: unknown): value is AbortSignal =>
  typeof readMember(value, 'aborted') === 'boolean' &&
  isFunction(readMember(value, 'addEventListener'));

/** Runs a hook or a clean-up and ignores its errors. */
export const ignoreErrors = async (run: () => unknown): Promise<void> => {
  try {
    await run();
  } catch {
    // The result of a call does not depend on it.
  }
};

/** Calls a hook with an event if it is a function, without waiting for it. */
export const notify = (hook: unknown, getEvent: () => object): void => {
  if (isFunction(hook)) void ignoreErrors(() => hook(getEvent()));
};

/** Waits for the next turn of the event loop, so that timers and other work can run. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });
