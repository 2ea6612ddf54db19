import type { IncomingMessage } from 'node:http';
import { type BodyBuffer, createBodyBuffer } from '../http/body-buffer.ts';

/** How much of a body is read before its request is admitted, in bytes. */
const maxEarlyBytes = 16_384;

/** `lost` is a body that was read before, or as text, by a listener in front of this one. */
type State = 'arriving' | 'complete' | 'too-large' | 'lost';

const bodyKey = Symbol('body');
type WithBody = { [bodyKey]?: IncomingBody | undefined };

// Shared by all bodies, because creating a listener for each takes longer than the checks.
function onData(this: WithBody, chunk: unknown) {
  this[bodyKey]?.add(chunk);
}
function onEnd(this: WithBody) {
  this[bodyKey]?.settle('complete');
}

/** What is called once a body is settled: all of it is there, or it cannot be used. */
export type BodyReader = { readonly onBody: (body: IncomingBody) => void };

/**
 * The body of a request, collected from its first byte. Node would keep each chunk by itself until the
 * request is admitted, which takes hundreds of times its size where it is one byte.
 */
export class IncomingBody {
  state: State;
  private readonly request: IncomingMessage;
  private readonly buffer: BodyBuffer;
  /** Until there is a reader, little of the body is read. */
  private reader: BodyReader | undefined;

  constructor(request: IncomingMessage, maxBytes: number) {
    this.request = request;
    this.buffer = createBodyBuffer(maxBytes);
    this.state = request.readableEnded ? 'lost' : 'arriving';
    (request as WithBody)[bodyKey] = this;
    request.on('data', onData);
    request.on('end', onEnd);
  }

  /** Reads the rest. */
  read(reader: BodyReader): void {
    if (this.state !== 'arriving') {
      reader.onBody(this);
      return;
    }
    this.reader = reader;
    // It is paused where much has arrived early, or by a listener in front of this one.
    this.request.resume();
  }

  /** The whole body; nothing is kept of it afterwards. */
  take(): Uint8Array {
    const bytes = this.buffer.bytes();
    this.drop();
    return bytes;
  }

  /** Drops the body, and what still arrives of it. */
  drop(): void {
    this.reader = undefined;
    (this.request as WithBody)[bodyKey] = undefined;
    if (this.state === 'arriving') this.request.resume();
  }

  add(chunk: unknown): void {
    if (this.state !== 'arriving') return;
    if (!Buffer.isBuffer(chunk)) this.settle('lost');
    else if (!this.buffer.add(chunk)) this.settle('too-large');
    else if (this.reader === undefined && this.buffer.bytes().byteLength > maxEarlyBytes) {
      this.request.pause();
    }
  }

  settle(state: State): void {
    if (this.state !== 'arriving') return;
    this.state = state;
    this.reader?.onBody(this);
  }
}
