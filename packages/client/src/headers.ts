import { ok, type Result } from 'neverthrow';
import type { CreatePlantError } from './errors.ts';
import { type CallState, headersInvalid } from './failures.ts';
import type { RequestHeaders } from './options.ts';
import { isFunction } from './untrusted.ts';

/** The fields of a request, with names in lowercase. */
export type Fields = Readonly<Record<string, string>>;

/**
 * Returns the fields of all sources; those of later sources replace earlier ones with the same
 * name. Functions are called one after another.
 */
export async function mergeHeaders(
  sources: readonly RequestHeaders[],
  call: CallState,
): Promise<Result<Fields, CreatePlantError>> {
  // Headers lowercases names, so names that differ in case are merged.
  const merged = new Headers();
  for (const source of sources) {
    try {
      const given = isFunction(source) ? await source() : source;
      // Throws for a value that is no object.
      const entries = Symbol.iterator in given ? given : Object.entries(given);
      for (const [name, value] of entries) {
        if (value === undefined || value === null) continue;
        if (!setField(merged, name, value)) return headersInvalid(call, name);
      }
    } catch (thrown) {
      return headersInvalid(call, thrown);
    }
  }
  return ok(Object.fromEntries(merged));
}

/**
 * Sets a field, and returns whether it is valid. The error is dropped, because it may have the
 * value, which may be a secret.
 */
function setField(headers: Headers, name: string, value: string): boolean {
  try {
    headers.set(name, value);
    return true;
  } catch {
    return false;
  }
}
