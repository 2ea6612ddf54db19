/** A member of any value at all; one that cannot be read counts as absent. */
export const readMember = (value: unknown, key: string): unknown => {
  try {
    return Reflect.get(Object(value), key);
  } catch {
    return undefined;
  }
};
