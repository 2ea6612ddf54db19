/** Of a chain of causes, this many are told; it may be a circle. */
const maxDepth = 5;

const describeError = (error: Error, depth: number): string => {
  const code = 'code' in error && typeof error.code === 'string' ? ` [${error.code}]` : '';
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  const told = inner
    .filter((one) => one !== undefined && depth < maxDepth)
    .map((one: unknown) => `\ncaused by: ${describe(one, depth + 1)}`);
  return `${error.stack ?? `${error.name}: ${error.message}`}${code}${told.join('')}`;
};

const describe = (cause: unknown, depth: number): string => {
  if (cause instanceof Error) return describeError(cause, depth);
  if (typeof cause === 'object' && cause !== null && 'reason' in cause) {
    const { reason, cause: inner }: { reason: unknown; cause?: unknown } = cause;
    const why = inner === undefined ? '' : `\ncaused by: ${describe(inner, depth + 1)}`;
    return `${String(reason)}${why}`;
  }
  return typeof cause === 'string' ? cause : `something that is no error (${typeof cause})`;
};

/**
 * Why something failed, as text that any log can take: messages, stacks and codes. Nothing else that
 * an error has on it is told, for drivers put URLs with passwords there, and the values of rows.
 */
export const describeCause = (cause: unknown): string => {
  try {
    return describe(cause, 0);
  } catch {
    return 'a cause that cannot be read';
  }
};
