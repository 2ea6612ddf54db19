/** How many chunks may come without letting timers and other work have their turn. */
const chunksPerTurn = 1000;

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve);
  });

/**
 * A response's body as text, of at most `longest` bytes. Whatever goes wrong is thrown; the body is
 * then cancelled and unlocked, as it is when `signal` aborts.
 */
export const readText = async (
  response: Response,
  signal: AbortSignal,
  longest: number,
): Promise<string> => {
  const { body } = response;
  // An opaque redirect has no body, and some injected fetches have no web stream.
  if (typeof body?.pipeTo !== 'function') return response.text();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const collect = (chunk: Uint8Array<ArrayBuffer>): Promise<void> | undefined => {
    size += chunk.byteLength;
    if (size <= longest) return chunks.push(chunk) % chunksPerTurn === 0 ? nextTurn() : undefined;
    throw new RangeError('the answer is too long');
  };
  await body.pipeTo(new WritableStream({ write: collect }), { signal });
  return new Blob(chunks).text();
};
