/** A character escaped by JSON, a URL or HTML, or backslashes of JSON before a character. */
const escaped = /(?:\\+u00|%|&#x0*)([\da-f]{2});?|&#(\d+);?|\\+/gi;

/** Returns a text without its outermost layer of escapes. */
const unescaped = (text: string): string =>
  text.replace(escaped, (_, hex?: string, code = hex && `0x${hex}`) =>
    code ? String.fromCharCode(Number(code)) : '',
  );

/** A run of the characters of tokens, escapes and base64. */
const words = /[\w.~+/=%&#;\\-]+/g;

// Base64 and base64url differ in two characters, of which an encoded token can contain only this one.
const toBase64Alphabet = (text: string): string => text.replace(/-/g, '+');

/**
 * Returns the texts to search for: the first 16 characters of a token, plain and in base64 at each of three
 * offsets. The search time depends on the length of the text only, and a token that another program has
 * truncated is found, too.
 */
const searchTextsOf = (token: string): string[] => {
  const head = token.slice(0, 16);
  const inBase64 = [0, 1, 2].map((offset) =>
    btoa(' '.repeat(offset) + head).slice(offset && offset + 1, ((offset + head.length) * 4) / 3),
  );
  // Shorter ones would match other words.
  return [head, ...inBase64.filter((encoded) => encoded.length > 5)].map(toBase64Alphabet);
};

// A text may have several layers of escapes, such as JSON in a URL.
const containsToken = (word: string, searchTexts: readonly string[], layers = 4): boolean => {
  const text = toBase64Alphabet(word);
  const plain = unescaped(word);
  return (
    searchTexts.some((searchText) => text.includes(searchText)) ||
    (layers > 0 && plain !== word && containsToken(plain, searchTexts, layers - 1))
  );
};

/** Replaces each word that contains a token, and the last word of a truncated text, with `***`. */
export const redact = (tokens: readonly string[], text: string, isTruncated = false): string => {
  const searchTexts = tokens.flatMap(searchTextsOf);
  return text.replace(words, (word, start: number) =>
    (isTruncated && start + word.length === text.length) || containsToken(word, searchTexts)
      ? '***'
      : word,
  );
};
