import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { BodyBuffer } from '../http/body-buffer.ts';
import { errorResponse, type ResponseData } from '../http/responses.ts';
import { isBytes } from '../http/values.ts';

/**
 * The body of a request, collected from its first byte. Node would buffer each chunk separately until the
 * request is admitted, which takes much more memory for a chunk of one byte.
 */
export class IncomingBody {
  /** `undefined` once the body is settled or dropped. */
  private buffer: BodyBuffer | undefined;
  private result: BodyResult | undefined;
  private onResult: ((body: BodyResult) => void) | undefined;

  constructor(request: IncomingMessage, maxBytes: number) {
    this.buffer = new BodyBuffer(maxBytes);
    // A simulated request may not be a stream.
    const { readable = true, readableDidRead = false } = request as Partial<IncomingMessage>;
    if (readableDidRead || !readable) this.fail();
    // Reads by itself, because another listener may pause it. Before 'data', which would otherwise resume it.
    request.on('readable', () => {
      while (request.read() !== null);
    });
    // Emitted for each read, also for those of other listeners.
    request.on('data', (chunk: unknown) => this.add(chunk));
    request.on('end', () => {
      if (this.buffer !== undefined) this.settle(ok(this.buffer.bytes()));
    });
    // Before the end: another listener has destroyed it, or its connection is lost. A simulated one may only emit an error.
    for (const event of ['close', 'error']) request.on(event, () => this.fail());
  }

  /** Calls back once: when the body is complete or cannot be read. Never, if the body is dropped before. */
  read(onResult: (body: BodyResult) => void): void {
    if (this.result === undefined) this.onResult = onResult;
    else onResult(this.result);
  }

  /** Drops the rest of the body as it arrives. */
  drop(): void {
    this.buffer = undefined;
    this.onResult = undefined;
  }

  private add(chunk: unknown): void {
    if (this.buffer === undefined) return;
    // Another listener has set an encoding.
    if (!isBytes(chunk)) this.fail();
    else if (!this.buffer.add(chunk)) this.settle(err(errorResponse('body-too-large')));
  }

  private fail(): void {
    const cause = 'another listener of the request has read or destroyed it';
    if (this.buffer !== undefined) this.settle(err(errorResponse('internal', { cause })));
  }

  private settle(result: BodyResult): void {
    this.buffer = undefined;
    this.result = result;
    this.onResult?.(result);
  }
}

/** The whole body, or the response if it cannot be read. */
export type BodyResult = Result<Uint8Array, ResponseData>;
