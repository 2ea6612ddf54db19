/** Maximum number of nested causes that are described, because a chain may be circular. */
const maxDepth = 5;

const credentials: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer +)\S+/gi, '$1…'],
  // The password in a URL.
  [/(:\/\/[^\s/:@]*:)[^\s/]*@/g, '$1…@'],
];

const redact = (text: string): string =>
  credentials.reduce((redacted, [pattern, shown]) => redacted.replaceAll(pattern, shown), text);

/** Returns the characters that base64 always has for a token, for each offset of the token modulo 3. */
const base64Of = (token: string): string[] =>
  [0, 1, 2].map((offset) =>
    btoa(' '.repeat(offset) + token).slice(offset && offset + 1, ((offset + token.length) * 4) / 3),
  );

/** Returns whether a text contains a token, also percent-encoded or in base64, such as of `Bearer TOKEN`. */
const hasToken = (text: string, token: string): boolean => {
  // Shorter ones are found in most texts.
  const base64 = base64Of(token).filter((form) => form.length > 3);
  const base64url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  const forms = [token, encodeURIComponent(token), ...base64, ...base64url];
  return forms.some((form) => text.toLowerCase().includes(form.toLowerCase()));
};

const describeError = (error: Error, depth: number): string => {
  const code = 'code' in error ? ` [${String(error.code)}]` : '';
  const inner: unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  const causes = inner
    .filter((one) => one !== undefined && depth < maxDepth)
    .map((one) => `\ncaused by: ${describe(one, depth + 1)}`);
  return `${error.stack ?? `${error.name}: ${error.message}`}${code}${causes.join('')}`;
};

const describe = (cause: unknown, depth: number): string => {
  if (cause instanceof Error) return describeError(cause, depth);
  if (typeof cause === 'object' && cause !== null && 'reason' in cause) {
    const { reason, cause: inner }: { reason: unknown; cause?: unknown } = cause;
    const why = inner === undefined ? '' : `\ncaused by: ${describe(inner, depth + 1)}`;
    return `${String(reason)}${why}`;
  }
  return typeof cause === 'string' ? cause : `something that is not an error (${typeof cause})`;
};

/**
 * Returns a cause as text for the log: messages, stacks and codes, with credentials redacted. Other
 * properties are left out, because drivers put URLs with passwords and values of rows there. The text of
 * an error that contains `token` is replaced.
 */
export const describeCause = (cause: unknown, token?: string): string => {
  try {
    const text = redact(describe(cause, 0));
    return token !== undefined && hasToken(text, token) ? 'an error that contains the token' : text;
  } catch {
    return 'a cause that cannot be read';
  }
};
