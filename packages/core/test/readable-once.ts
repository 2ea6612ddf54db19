/** Returns a plant whose members become `null` when they are read. */
export function readableOnce<Of extends object>(plant: Of): Of {
  const left = { ...plant };
  const get = (_: Of, name: PropertyKey): unknown => {
    const value: unknown = Reflect.get(left, name);
    Reflect.set(left, name, null);
    return value;
  };
  return new Proxy(plant, { get });
}
