/** How many chunks may come without letting timers and other work have their turn. */
const chunksPerTurn = 1000;

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });

/**
 * A response's body, of at most `longest` bytes. Whatever goes wrong is thrown; the body is then
 * cancelled and unlocked, as it is when `signal` aborts.
 */
export const readBytes = async (
  response: Response,
  signal: AbortSignal,
  longest: number,
): Promise<Uint8Array> => {
  const { body } = response;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const collect = (chunk: Uint8Array<ArrayBuffer>): Promise<void> | undefined => {
    size += chunk.byteLength;
    if (size <= longest) return chunks.push(chunk) % chunksPerTurn === 0 ? nextTurn() : undefined;
    throw new RangeError('the answer is too long');
  };
  // An opaque redirect has no body, and some injected fetches have no web stream.
  if (typeof body?.pipeTo !== 'function') {
    // A DataView takes no garbage for a length, as an array of bytes would.
    const bytes = new Uint8Array(new DataView(await response.arrayBuffer()).buffer);
    await collect(bytes);
    return bytes;
  }
  await body.pipeTo(new WritableStream({ write: collect }), { signal });
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
};
