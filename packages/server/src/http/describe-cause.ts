import { isObject } from './values.ts';

/**
 * Returns a cause as text for a log: messages, stacks and codes of an error and its causes, with
 * credentials redacted. Other properties may be URLs with passwords or values of rows.
 *
 * @example
 * ```ts
 * import { describeCause } from '@plantstore/server';
 *
 * describeCause(new Error('cannot connect to postgres://ada:s3cr3t@db/garden'));
 * // Error: cannot connect to postgres://ada:…@db/garden
 * //     at …
 * ```
 */
export function describeCause(cause: unknown): string {
  try {
    return redact(describe(cause, 0));
  } catch {
    return 'a cause that cannot be read';
  }
}

/** Returns an error of `authenticate` as text for a log, without the token. */
export function describeAuthenticateError(thrown: unknown, token: string): string {
  // In any case, and with any of its characters percent-encoded, as in a form.
  const pattern = token.replaceAll(/./g, (one) => {
    const hex = one.charCodeAt(0).toString(16);
    return `(?:\\x${hex}|%${hex})`;
  });
  return describeCause(thrown).replaceAll(new RegExp(pattern, 'gi'), '…');
}

function describe(cause: unknown, depth: number): string {
  // An error of another realm is no instance of Error.
  if (isObject(cause) && 'message' in cause && 'stack' in cause) {
    return describeError(cause as Error, depth);
  }
  if (isObject(cause) && 'reason' in cause) {
    const { reason, cause: inner }: { reason: unknown; cause?: unknown } = cause;
    const why = inner === undefined ? '' : `\ncaused by: ${describe(inner, depth + 1)}`;
    return `${String(reason)}${why}`;
  }
  return typeof cause === 'string' ? cause : `something that is not an error (${typeof cause})`;
}

/** Maximum number of nested causes that are described, because a chain may be circular. */
const maxDepth = 5;

function describeError(error: Error, depth: number): string {
  const shown = error.stack ?? `${error.name}: ${error.message}`;
  const code = 'code' in error ? ` [${String(error.code)}]` : '';
  const several: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const causes = [...several, error.cause]
    .filter((one) => one !== undefined && depth < maxDepth)
    .map((one) => `\ncaused by: ${describe(one, depth + 1)}`);
  return `${shown}${code}${causes.join('')}`;
}

function redact(text: string): string {
  // The password in a URL is the second one.
  return text
    .replaceAll(/\b(bearer +)\S+/gi, '$1…')
    .replaceAll(/(:\/\/[^\s/:@]*:)[^\s/]*@/g, '$1…@');
}
