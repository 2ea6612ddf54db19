import type { IncomingMessage } from 'node:http';
import { type BodyBuffer, createBodyBuffer } from '../http/body-buffer.ts';
import { errorResponse, type ResponseData } from '../http/response-data.ts';

/** The whole body, or the response if it cannot be read. */
export type BodyResult = Uint8Array | ResponseData;

const nothing = new Uint8Array(0);

const isUnreadable = { cause: 'another listener of the request has read or destroyed it' };

/**
 * The body of a request, collected from its first byte. Node would buffer each chunk separately until the
 * request is admitted, which takes hundreds of bytes for a chunk of one byte.
 */
export class IncomingBody {
  private readonly buffer: BodyBuffer;
  private result: BodyResult | undefined;
  private onResult: ((result: BodyResult) => void) | undefined;

  constructor(request: IncomingMessage, maxBytes: number) {
    this.buffer = createBodyBuffer(maxBytes);
    if (request.readableDidRead || !request.readable) this.fail();
    // Reads by itself, because another listener may pause it. Before 'data', which would otherwise resume it.
    request.on('readable', () => {
      while (request.read() !== null);
    });
    // Emitted for each read, also for those of other listeners.
    request.on('data', (chunk: unknown) => this.add(chunk));
    const finish = () => {
      if (this.result !== undefined) return;
      if (request.readableEnded) this.settle(this.buffer.bytes());
      // Another listener has destroyed it, or its connection is lost.
      else this.fail();
    };
    request.on('end', finish);
    request.on('close', finish);
  }

  /** Calls `onResult` once the body is read. */
  read(onResult: (result: BodyResult) => void): void {
    if (this.result === undefined) this.onResult = onResult;
    else onResult(this.result);
  }

  /** Drops the rest of the body as it arrives. */
  drop(): void {
    this.onResult = undefined;
    this.result ??= nothing;
  }

  private add(chunk: unknown): void {
    if (this.result !== undefined) return;
    // Another listener has set an encoding.
    if (!Buffer.isBuffer(chunk)) this.fail();
    else if (!this.buffer.add(chunk)) this.settle(errorResponse('body-too-large'));
  }

  private fail(): void {
    this.settle(errorResponse('internal', isUnreadable));
  }

  private settle(result: BodyResult): void {
    this.result = result;
    this.onResult?.(result);
  }
}
