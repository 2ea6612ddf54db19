// Values of an app may come from another realm, such as a vm context or an iframe, where `instanceof` is false.

/** Returns whether a value is a promise, or can be awaited as one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && 'then' in value && typeof value.then === 'function';
}

/** Returns whether a value is a Uint8Array, such as a Buffer. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && value[Symbol.toStringTag as never] === 'Uint8Array';
}

/** Returns whether a value has members. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
