import { isFunction } from './untrusted.ts';

/**
 * Returns the merged header fields of several sources, of which earlier ones take precedence, or
 * `undefined` if a source is invalid or its function fails. `Authorization` and `Content-Type` are removed.
 */
export const mergeHeaders = async (
  sources: readonly unknown[],
): Promise<Record<string, string> | undefined> => {
  // Without a prototype, a field may be named `constructor`.
  const fields = { __proto__: null } as unknown as Record<string, string>;
  try {
    for (const source of sources) {
      const headers = isFunction(source) ? await source() : source;
      // Headers lowercases names, so names that differ in case are merged.
      new Headers(headers as Record<string, string>).forEach((value, name) => {
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
