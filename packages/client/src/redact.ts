/** Bounds the time of {@link redact}, which tests each word. */
export const maxTextLength = 4096;

/**
 * Replaces each word that contains a token with `***`: as it is, percent-encoded, or with escapes
 * of JSON. Before, a text of more than 4096 characters is truncated, and its last word is replaced,
 * too, because it may be a part of a token.
 */
export function redact(tokens: readonly string[], text: string): string {
  const patterns = tokens.map(patternOf);
  const isTruncated = text.length > maxTextLength;
  return text.slice(0, maxTextLength).replace(words, (word, start: number) => {
    if (isTruncated && start + word.length === maxTextLength) return '***';
    const forms = [word, decode(word)];
    const hasToken = patterns.some((pattern) => forms.some((form) => pattern.test(form)));
    return hasToken ? '***' : word;
  });
}

/**
 * A run of the characters of a token (RFC 6750 b64token) and of its escapes, or the half of a
 * character at the end of a truncated text.
 */
const words = /[\w.~+/=%\\-]+|[\ud800-\udbff]$/g;

/**
 * Returns a pattern of the first 16 characters of a token, so that a token that a library has
 * truncated is found, too.
 */
function patternOf(token: string): RegExp {
  const start = token.slice(0, 16).replace(/[.+]/g, '\\$&');
  if (token.length >= 8) return new RegExp(start);
  // A short token, such as "a", is part of many words. A letter after a backslash is an escape, as
  // in "\n".
  return new RegExp(`(?<!(?<!\\\\)[A-Za-z\\d])${start}(?![A-Za-z\\d])`);
}

/** Decodes the ASCII characters of a word that are percent-encoded, or escaped in JSON. */
function decode(word: string): string {
  return word.replace(escaped, (_, hex?: string) =>
    hex ? String.fromCharCode(Number(`0x${hex}`)) : '',
  );
}

/** `%2B`; `\u002B`, as .NET writes a plus sign; the backslash of `\/`, as PHP writes a slash. */
const escaped = /(?:%|\\u[\da-f]{2})([\da-f]{2})|\\(?=\/)/gi;
