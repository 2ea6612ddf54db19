import { isFunction } from './untrusted.ts';

/**
 * Returns the merged header fields of several sources, of which later ones take precedence, with names in
 * lowercase, or `undefined` if a source is invalid or its function fails.
 */
export const mergeHeaders = async (
  sources: readonly unknown[],
): Promise<Record<string, string> | undefined> => {
  try {
    // Headers lowercases names, so names that differ in case are merged.
    const merged = new Headers();
    for (const source of sources) {
      const headers = isFunction(source) ? await source() : source;
      new Headers(headers as Record<string, string>).forEach((value, name) => {
        merged.set(name, value);
      });
    }
    return Object.fromEntries(merged);
  } catch {
    return undefined;
  }
};
