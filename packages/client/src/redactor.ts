/** Replaces each word of a text that has a token in it, and the last word where the text is cut off. */
export type Redact = (text: string, isCut?: boolean) => string;

/** A character as JSON, a URL or HTML may escape it, or the backslashes that JSON may put before one. */
const escaped = /(?:\\+u00|%|&#x0*)([\da-f]{2});?|&#(\d+);?|\\+/gi;

/** A text with its outermost escapes undone. */
const unescaped = (text: string): string =>
  text.replace(escaped, (_, hex?: string, code = hex && `0x${hex}`) =>
    code ? String.fromCharCode(Number(code)) : '',
  );

/** A run of the characters that a token and its escapes consist of: no token lies in two words. */
const words = /[\w.~+/=%&#;\\-]+/g;

// Only the beginning of a token is searched for: the time grows with the text alone, and a token that
// was cut off elsewhere is found, too. A text may have been escaped repeatedly, as JSON in a URL is.
const holds = (word: string, token: string, layers = 4): boolean => {
  const plain = unescaped(word);
  return (
    word.includes(token.slice(0, 16)) ||
    (layers > 0 && plain !== word && holds(plain, token, layers - 1))
  );
};

export const redactorOf =
  (tokens: readonly string[]): Redact =>
  (text, isCut) =>
    text.replace(words, (word, start: number) =>
      (isCut && start + word.length === text.length) || tokens.some((token) => holds(word, token))
        ? '***'
        : word,
    );
