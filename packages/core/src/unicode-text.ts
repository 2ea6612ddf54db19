/**
 * Returns whether a value is text that every store can keep unchanged: a string without lone
 * surrogates and without U+0000. The empty string is text.
 */
export function isUnicodeText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
