/** Returns the result of a function, or `undefined` if it throws. */
export const undefinedOnThrow = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    return undefined;
  }
};

/** Runs a hook or a clean-up, without waiting for it, and ignores its errors. */
export const ignoreErrors = async (run: () => unknown): Promise<void> => {
  try {
    await run();
  } catch {
    // The result of a call does not depend on it.
  }
};

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isFunction = (value: unknown): value is (...args: never[]) => unknown =>
  typeof value === 'function';

export const isSignal = (value: AbortSignal | undefined): boolean =>
  typeof value?.removeEventListener === 'function' && 'aborted' in value;
