/** Returns the result of a function, or `undefined` if it throws. */
export function undefinedOnThrow<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Runs a hook or a clean-up, without waiting for it, and ignores its errors. */
export async function ignoreErrors(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch {
    // The result of a call does not depend on it.
  }
}

/** Returns a member of any value, or `undefined` if it has none or throws. */
export function memberOf(value: unknown, name: PropertyKey): unknown {
  return undefinedOnThrow(() => (value as Readonly<Record<PropertyKey, unknown>>)[name]);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isFunction(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === 'function';
}

/** Returns whether a value can abort a call. A signal may be of another realm. */
export function isSignal(value: unknown): value is AbortSignal {
  return (
    memberOf(value, 'aborted') !== undefined && isFunction(memberOf(value, 'removeEventListener'))
  );
}
