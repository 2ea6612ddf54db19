import { inspect } from 'node:util';

/** Returns an object as JSON in which every control character is escaped; what JSON lacks, as text. */
export function toJson(fields: Readonly<Record<string, unknown>>): string {
  let text;
  try {
    text = JSON.stringify(fields, asText);
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
