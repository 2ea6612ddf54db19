/**
 * Whether a value is text that every store can keep faithfully: a string without a lone surrogate and
 * without U+0000. The empty string is text.
 */
export const isUnicodeText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
