import type { IncomingMessage } from 'node:http';
import { createBodyBuffer } from '../http/body-buffer.ts';

/** A body that was read whole, grew past the limit, never ended, or was somebody else's to read. */
export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken-off' }
  | { readonly kind: 'not-ours' };

/** Reads a request body of at most `limit` bytes; past that it stops keeping, not listening. */
export const readBody = async (request: IncomingMessage, limit: number): Promise<ReadBody> =>
  new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) {
      resolve({ kind: request.readableEnded ? 'not-ours' : 'broken-off' });
      return;
    }
    const body = createBodyBuffer(limit);
    // Only the first thing that it settles on counts.
    let isSettled = false;
    const settle = (result: ReadBody) => {
      isSettled = true;
      resolve(result);
    };
    request.on('data', (chunk: unknown) => {
      if (isSettled) return;
      // A body parser before us has set an encoding: the bytes are gone.
      if (!Buffer.isBuffer(chunk)) {
        settle({ kind: 'not-ours' });
        return;
      }
      if (!body.add(chunk)) settle({ kind: 'too-large' });
    });
    request.on('end', () => {
      if (!isSettled) settle({ kind: 'read', bytes: body.bytes() });
    });
    request.on('close', () => settle({ kind: 'broken-off' }));
  });
