/** Bounds the time of {@link redact}, which tests each word. */
export const maxTextLength = 4096;

/**
 * Replaces each word that contains a token with `***`. Before, a text of more than 4096 characters is
 * truncated, and its last word is replaced, too, because it may be a part of a token.
 */
export function redact(tokens: readonly string[], text: string): string {
  const patterns = tokens.map(patternOf);
  return text
    .slice(0, maxTextLength)
    .replace(words, (word, start: number) =>
      (text[maxTextLength] && start + word.length === maxTextLength) ||
      containsToken(word, patterns)
        ? '***'
        : word,
    );
}

/** A run of the characters of tokens and escapes, or the half of a character at the end of a truncated text. */
const words = /[\w.~+/=%&#;\\-]+|[\ud800-\udbff]$/g;

/** Returns a pattern of the first 16 characters of a token, so that a token that was truncated is found, too. */
const patternOf = (token: string): RegExp => {
  const head = token.slice(0, 16).replace(/[.+]/g, '\\$&');
  // A shorter token, such as "a", is part of many words. An escape of JSON before it may end with a letter.
  return new RegExp(token.length < 8 ? `(^|[\\W_]|\\\\[bfnrt]|\\\\u....)${head}(?![^\\W_])` : head);
};

// A text may have several layers of escapes, such as JSON in a URL.
const containsToken = (word: string, patterns: readonly RegExp[], layers = 4): boolean =>
  patterns.some((pattern) => pattern.test(word)) ||
  (layers > 0 && containsToken(unescaped(word), patterns, layers - 1));

/** A character escaped by JSON, a URL or HTML, or backslashes of JSON before a character. */
const escaped = /(?:\\+u00|%|&#x0*)([\da-f]{2});?|&#(\d+);?|\\+/gi;

/** Returns a text without its outermost layer of escapes. */
const unescaped = (text: string): string =>
  text.replace(escaped, (_, hex?: string, code = hex && `0x${hex}`) =>
    code ? String.fromCharCode(+code) : '',
  );
