const encoder = new TextEncoder();

/** Returns the size of a text in UTF-8, in bytes. Uses Buffer if the runtime has it, because it is faster. */
export const byteLength: (text: string) => number =
  typeof Buffer === 'undefined'
    ? (text) => encoder.encode(text).byteLength
    : (text) => Buffer.byteLength(text);
