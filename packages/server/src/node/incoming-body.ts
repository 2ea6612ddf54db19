import { type BodyBuffer, createBodyBuffer } from '../http/body-buffer.ts';
import { errorResponse, type ResponseData } from '../http/response-data.ts';
import { DirectRequest } from './direct-request.ts';
import type { Exchange } from './exchange.ts';

const isUnreadable = { cause: 'the body was read before this listener was called' };

/**
 * The body of a request, collected from its first byte. Node would buffer each chunk separately until the
 * request is admitted, which takes hundreds of bytes for a chunk of one byte.
 */
export class IncomingBody {
  private readonly exchange: Exchange;
  private readonly buffer: BodyBuffer;
  /** The whole body, or the response if it cannot be read. */
  private result: Uint8Array | ResponseData | undefined;
  private isStream = false;
  private isAdmitted = false;
  /** Number of bytes that the connection counts as early. */
  private earlyBytes = 0;

  constructor(exchange: Exchange) {
    const { request, connection } = exchange;
    this.exchange = exchange;
    this.buffer = createBodyBuffer(connection.context.service.maxBodyBytes);
    // An earlier listener has read it.
    if (request.readableEnded) this.settle(errorResponse('internal', isUnreadable));
    if (request instanceof DirectRequest) request.receiver = this;
    else this.listen();
  }

  /** Receives the rest of the body from a stream. */
  listen(): void {
    this.isStream = true;
    this.exchange.request.on('data', (chunk: unknown) => this.add(chunk));
    this.exchange.request.on('end', () => this.end());
  }

  /** Reads the rest of the body, and calls `onBody` of the exchange with the result. */
  read(): void {
    this.isAdmitted = true;
    this.countAsRead();
    if (this.result !== undefined) this.exchange.onBody(this.result);
    // An earlier listener may have paused it.
    else if (this.isStream) this.exchange.request.resume();
  }

  /** Drops the rest of the body as it arrives. */
  drop(): void {
    this.countAsRead();
    if (this.result !== undefined) return;
    this.result = this.buffer.bytes();
    if (this.isStream) this.exchange.request.resume();
  }

  add(chunk: unknown): void {
    if (this.result !== undefined) return;
    // An earlier listener has set an encoding.
    if (!Buffer.isBuffer(chunk)) this.settle(errorResponse('internal', isUnreadable));
    else if (!this.buffer.add(chunk)) this.settle(errorResponse('body-too-large'));
    else if (!this.isAdmitted) {
      this.earlyBytes += chunk.length;
      this.exchange.connection.countEarly(chunk.length);
    }
  }

  end(): void {
    if (this.result === undefined) this.settle(this.buffer.bytes());
  }

  private settle(result: Uint8Array | ResponseData): void {
    this.result = result;
    if (this.isAdmitted) this.exchange.onBody(result);
  }

  private countAsRead(): void {
    if (this.earlyBytes > 0) this.exchange.connection.countEarly(-this.earlyBytes);
    this.earlyBytes = 0;
  }
}
