import { isFunction } from './lenient.ts';

/**
 * Merges header fields, of which earlier ones win; `undefined` where they are invalid or a function
 * fails. `Authorization` and `Content-Type` are left to the client.
 */
export const mergeHeaders = async (
  sources: readonly unknown[],
): Promise<Record<string, string> | undefined> => {
  const fields: Record<string, string> = {};
  try {
    for (const source of sources) {
      const given = isFunction(source) ? await source() : source;
      // Names come in lower case, so two spellings of one name do not add up.
      new Headers(given as Record<string, string>).forEach((value, name) => {
        fields[name] ??= value;
      });
    }
  } catch {
    return undefined;
  }
  delete fields['authorization'];
  delete fields['content-type'];
  return fields;
};
