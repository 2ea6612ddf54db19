/**
 * Whether a string is text that every store can keep faithfully: no lone surrogate, no U+0000.
 * The empty string is text.
 */
export const isUnicodeText = (value: string): boolean =>
  value.isWellFormed() && !value.includes('\0');
