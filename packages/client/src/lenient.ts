/** Returns what a function returns, or `undefined` where it throws. */
export const orUndefined = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    return undefined;
  }
};

/** Reads a member of any value; one that cannot be read counts as absent. */
export const readMember = (value: unknown, key: string): unknown =>
  // A member of nothing is the common case, and needs no function.
  value === undefined
    ? undefined
    : orUndefined(() => (value as { readonly [key: string]: unknown })[key]);

export const isFunction = (value: unknown): value is (argument?: object) => unknown =>
  typeof value === 'function';

/** Recognizes a signal by its members, as a polyfill's or another realm's will do. */
export const isSignal = (value: unknown): value is AbortSignal =>
  typeof readMember(value, 'aborted') === 'boolean' &&
  isFunction(readMember(value, 'addEventListener'));

/** Runs a hook or a clean-up, and ignores that it throws or rejects. */
export const ignoreErrors = async (run: () => unknown): Promise<void> => {
  try {
    await run();
  } catch {
    // Its failure concerns no call.
  }
};

/** Calls a hook if it is one, without waiting for it. */
export const notify = (hook: unknown, event: object): void => {
  // Checked first: to throw and catch would cost a tenth of a call.
  if (isFunction(hook)) void ignoreErrors(() => hook(event));
};

/** Waits until timers and other work have run. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });
