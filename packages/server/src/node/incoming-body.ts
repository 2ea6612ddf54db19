import type { IncomingMessage } from 'node:http';
import { type BodyBuffer, createBodyBuffer } from '../http/body-buffer.ts';

/**
 * Number of bytes of a body after which its request is paused until it is admitted. Node reads up to 64 KiB at
 * once, and buffers as much again of a paused request, so that at most 160 KiB are kept: 96 KiB if the body is
 * complete, and Node reads the next request.
 */
const maxEarlyBytes = 16_384;

/** A body is `lost` if an earlier listener has read it, or has set an encoding. */
type State = 'arriving' | 'complete' | 'too-large' | 'lost';

const bodyKey = Symbol('body');
type WithBody = { [bodyKey]?: IncomingBody | undefined };

// Shared by all bodies, because a listener for each would be slower.
function onData(this: WithBody, chunk: unknown) {
  this[bodyKey]?.add(chunk);
}
function onEnd(this: WithBody) {
  this[bodyKey]?.settle('complete');
}

/** Called once a body is settled: it is complete, or it cannot be used. */
export type BodyReader = { readonly onBody: (body: IncomingBody) => void };

/**
 * The body of a request, collected from its first byte. Node would buffer each chunk separately until the
 * request is admitted, which takes hundreds of bytes for a chunk of one byte.
 */
export class IncomingBody {
  state: State;
  private readonly request: IncomingMessage;
  private readonly buffer: BodyBuffer;
  /** Without a reader, the request is paused after `maxEarlyBytes`. */
  private reader: BodyReader | undefined;

  constructor(request: IncomingMessage, maxBytes: number) {
    this.request = request;
    this.buffer = createBodyBuffer(maxBytes);
    this.state = request.readableEnded ? 'lost' : 'arriving';
    (request as WithBody)[bodyKey] = this;
    request.on('data', onData);
    request.on('end', onEnd);
  }

  /** Reads the rest of the body. */
  read(reader: BodyReader): void {
    if (this.state !== 'arriving') {
      reader.onBody(this);
      return;
    }
    this.reader = reader;
    // The request is paused after `maxEarlyBytes`, or by an earlier listener.
    this.request.resume();
  }

  /** Returns the whole body and releases it. */
  take(): Uint8Array {
    const bytes = this.buffer.bytes();
    this.drop();
    return bytes;
  }

  /** Drops the body, and the rest of it as it arrives. */
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
