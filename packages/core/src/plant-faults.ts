import { isExactId } from './exact-id.ts';
import { isUnicodeText } from './unicode-text.ts';

/**
 * Returns the fault of a value as a member of a plant, as a name of the error table; `undefined` if
 * it has none. The schema takes its messages from here, so the types of a plant cannot be named.
 */
export const faultOf = {
  id: (value: unknown) => {
    if (isExactId(value)) return undefined;
    if (value === undefined) return 'id-required';
    return typeof value === 'bigint' ? 'id-out-of-range' : 'id-not-integer';
  },
  name: (value: unknown) => {
    if (isUnicodeText(value)) return undefined;
    return value === undefined ? 'name-required' : 'name-not-text';
  },
  tag: (value: unknown) =>
    value === undefined || isUnicodeText(value) ? undefined : 'tag-not-text',
} as const;
