/** Replaces each word of a text that contains a token, and the last word where the text is cut off. */
export type Redact = (text: string, isCut?: boolean) => string;

/** A character as JSON, a URL or HTML may escape it, or the backslashes that JSON may put before one. */
const escaped = /(?:\\+u00|%|&#x0*)([\da-f]{2});?|&#(\d+);?|\\+/gi;

/** Returns a text with its outermost escapes undone. */
const unescaped = (text: string): string =>
  text.replace(escaped, (_, hex?: string, code = hex && `0x${hex}`) =>
    code ? String.fromCharCode(Number(code)) : '',
  );

/** A run of the characters that tokens, their escapes and base64 consist of. */
const words = /[\w.~+/=%&#;\\-]+/g;

// Base64 and its URL form differ in two characters, of which a token can cause this one.
const unified = (text: string): string => text.replace(/-/g, '+');

/**
 * Returns the texts by which a token is recognized: its first 16 characters, as they are and in base64
 * at each of three offsets. The time to search grows with the text alone, and a token that another
 * program has cut off is found, too.
 */
const marksOf = (token: string): string[] => {
  const head = token.slice(0, 16);
  const inBase64 = [0, 1, 2].map((offset) =>
    btoa(' '.repeat(offset) + head).slice(offset && offset + 1, ((offset + head.length) * 4) / 3),
  );
  // Shorter ones would be found in other words.
  return [head, ...inBase64.filter((mark) => mark.length > 5)].map(unified);
};

// A text may have been escaped repeatedly, as JSON in a URL is.
const hasMark = (word: string, marks: readonly string[], layers = 4): boolean => {
  const text = unified(word);
  const plain = unescaped(word);
  return (
    marks.some((mark) => text.includes(mark)) ||
    (layers > 0 && plain !== word && hasMark(plain, marks, layers - 1))
  );
};

export const redactorOf =
  (tokens: readonly string[]): Redact =>
  (text, isCut) => {
    const marks = tokens.flatMap(marksOf);
    return text.replace(words, (word, start: number) =>
      (isCut && start + word.length === text.length) || hasMark(word, marks) ? '***' : word,
    );
  };
