import type { IncomingMessage } from 'node:http';

/** A body that was read whole, grew past the limit, never ended, or was somebody else's to read. */
export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken-off' }
  | { readonly kind: 'not-ours' };

/** Reads a request body of at most `limit` bytes; past that it stops keeping, not listening. */
export const readBody = async (request: IncomingMessage, limit: number): Promise<ReadBody> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;

    const settle = (result: ReadBody) => {
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('close', onClose);
      resolve(result);
    };
    const onData = (chunk: unknown) => {
      // A body parser before us has set an encoding: the bytes are gone.
      if (!Buffer.isBuffer(chunk)) {
        settle({ kind: 'not-ours' });
        return;
      }
      size += chunk.length;
      if (size > limit) settle({ kind: 'too-large' });
      else chunks.push(chunk);
    };
    const onEnd = () => settle({ kind: 'read', bytes: Buffer.concat(chunks, size) });
    const onClose = () => settle({ kind: 'broken-off' });

    if (request.readableEnded || request.destroyed) {
      resolve({ kind: request.readableEnded ? 'not-ours' : 'broken-off' });
      return;
    }
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
  });
