/** Returns text of others as it is, or as a JSON string if a character of it cannot be seen. */
export function shown(text: string): string {
  return escapeUnprintable(text) === text && text.trim() === text ? text : quoted(text);
}

/** Returns text of others as a JSON string in which every character can be seen. */
export function quoted(text: string): string {
  return escapeUnprintable(JSON.stringify(text));
}

/** Replaces every character that is not printable, and U+FFFD, by its escape sequence in JSON. */
export function escapeUnprintable(text: string): string {
  return text.replaceAll(/(?! )[\p{C}\p{Z}\ufffd]/gu, (character) =>
    character.replaceAll(
      /[^]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}

/** Returns what a value must be, to follow its source in a message; `undefined` if it is. */
export function textFault(...texts: readonly string[]): string | undefined {
  return texts.some((text) => /^[\s\p{Cf}]|[\s\p{Cf}]$|[\p{Cc}\ufffd]/u.test(text))
    ? 'must have no white space or invisible character at its ends, and no control character or ' +
        'U+FFFD (text that is not UTF-8) in it'
    : undefined;
}
