import { inspect } from 'node:util';

/** Returns an object as JSON that has no control character; what JSON lacks is text in it. */
export function toJson(fields: Readonly<Record<string, unknown>>): string {
  // Most values are numbers and text, which need no replacer.
  const isPlain = Object.values(fields).every(
    (one) => typeof one !== 'object' && typeof one !== 'bigint',
  );
  let text;
  try {
    text = JSON.stringify(fields, isPlain ? undefined : asText);
  } catch {
    // A circular cause, for example.
    const shown = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'object' ? inspect(value) : value,
    ]);
    text = JSON.stringify(Object.fromEntries(shown), asText);
  }
  // JSON does not escape these, but they end a line or control a terminal.
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function asText(_key: string, value: unknown): unknown {
  if (value instanceof Error) return inspect(value);
  return typeof value === 'bigint' ? String(value) : value;
}
