// `instanceof` is false for values of another realm, such as a vm context, and for promises once
// zone.js replaces `Promise`.

/** Returns whether a value is a promise, or can be awaited as one. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
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
