import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHead } from '../../http/request-head.ts';
import { errorResponse, pairsOf, type ResponseData } from '../../http/responses.ts';
import { drain } from './endings.ts';
import { type BodyResult, hasRawHeaders, headOfIncoming, IncomingBody } from './incoming.ts';
import type { ConnectionRules, Exchanging, Outcome, Turn } from './turn.ts';

/**
 * A request on its connection, and its response. It is
 * - waiting, from its arrival: for the requests before it, and for its admission;
 * - reading, from `read`: its body is wanted;
 * - decided, from `leave`: what arrives of its body is dropped;
 * - closed, at any time: its response is sent or lost, by whichever listener.
 *
 * A parse error or a timeout (`fail`) decides it while it is waiting or reading.
 */
export class QueuedRequest implements Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly address: string | undefined;
  phase: 'waiting' | 'reading' | 'decided' = 'waiting';
  /** Whether the client waits for a `100 Continue` that is not sent. */
  awaitsContinue: boolean;
  /** The response to a parse error or a timeout. */
  failure: ResponseData | undefined;
  readonly #line: Line;
  readonly #exchange: Exchanging;
  #body: IncomingBody | undefined;
  #isSent = false;
  #isClosed = false;
  #hasEnded = false;

  constructor(line: Line, { request, response, awaitsContinue }: Arrival) {
    this.#line = line;
    this.request = request;
    this.response = response;
    this.head = headOfIncoming(request);
    this.address = line.address;
    // An `Expect` without an element is no field.
    this.awaitsContinue = awaitsContinue && /[^ \t,]/.test(this.head.expect ?? '');
    this.#exchange = line.rules.createExchange(this);
    // A client that disconnects early is not an error.
    response.on('error', () => {});
    // A simulated response may emit only one of them.
    response.on('finish', () => this.onClosed(true));
    response.on('close', () => this.onClosed());
  }

  get outcome(): Outcome | undefined {
    if (this.#line.isOver || this.response.headersSent) return {};
    return this.failure && { response: this.failure };
  }

  /** Whether all of the body is read. */
  get isReceived(): boolean {
    return this.#body?.isWhole === true;
  }

  begin(isLater: boolean): void {
    this.#exchange.begin(isLater);
  }

  /** Collects what arrives of the body before it is wanted. */
  collect(): IncomingBody {
    this.#body ??= new IncomingBody(this.request, this.#line.rules.maxBodyBytes);
    return this.#body;
  }

  read(onBody: (body: BodyResult) => void): void {
    this.phase = 'reading';
    this.#line.release();
    this.#continueIfAwaited();
    this.collect().read(onBody);
  }

  #continueIfAwaited(): void {
    const { transferEncoding, contentLength = 0 } = this.head;
    const hasBody = transferEncoding !== undefined || Number(contentLength) > 0;
    // A request without a body gets its final response at once (RFC 9110 §10.1.1).
    if (!this.awaitsContinue || !hasBody) return;
    this.response.writeContinue();
    this.awaitsContinue = false;
  }

  /** Responds to a parse error or a timeout of the request, in its turn. */
  fail(response: ResponseData): void {
    this.failure = response;
    if (this.phase === 'reading') this.#body?.fail(response);
  }

  send(data: ResponseData, headers: string[]): ResponseData {
    const { response, request } = this;
    // Another listener has responded.
    if (response.headersSent) return data;
    this.#isSent = true;
    const isLast = this.#line.endsAfter(this, data.error);
    try {
      if (isLast) headers.push('Connection', 'close');
      this.#writeHead(data.status, headers);
    } catch (cause) {
      // Another listener has set a field that conflicts with one of these.
      this.#line.abort(this);
      return errorResponse('internal', { cause });
    }
    if (response.destroyed) return data;
    const isRestUnwanted = isLast && !request.complete && !this.#line.isSimulated;
    if (isRestUnwanted && this.failure === undefined) this.#sendBeforeRest(data.body);
    else response.end(data.body, data.isAscii === true ? 'latin1' : 'utf8');
    return data;
  }

  #writeHead(status: number, headers: string[]): void {
    const { response, request } = this;
    // Simulated responses, and wrappers of other listeners, read an object only.
    const needsObject =
      this.#line.isSimulated || !hasRawHeaders(request) || Object.hasOwn(response, 'writeHead');
    response.writeHead(status, needsObject ? Object.fromEntries(pairsOf(headers)) : headers);
  }

  /** Sends the body of a response, and ends it once the rest of the request is dropped. */
  #sendBeforeRest(body: string): void {
    const { request, response } = this;
    response.write(body, (error) => {
      // Now, because the unwanted rest may take seconds to drop.
      if (!error) this.#end(true);
    });
    const stop = drain(request, maxDrainMs, () => response.end());
    // Node emits no 'close' on a request if its connection is lost after its response has ended.
    response.once('close', stop);
  }

  leave(): void {
    this.phase = 'decided';
    // Another listener may leave the rest of the body, and the next request comes after it.
    this.collect().drop();
    this.#line.next(this);
  }

  /** Called when the response is sent or the connection is lost. Only the first call counts. */
  onClosed(isFinished = this.response.writableFinished): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end(this.#line.remove(this, isFinished));
  }

  #end(isWritten: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { headersSent, statusCode } = this.response;
    this.#exchange.end(isWritten, headersSent && !this.#isSent ? statusCode : undefined);
  }
}

/** A request that has arrived, with its response. */
export type Arrival = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the client waits for a `100 Continue`. */
  readonly awaitsContinue: boolean;
};

/** What a request calls of its connection. */
export type Line = {
  readonly address: string | undefined;
  readonly rules: ConnectionRules;
  /** Whether there is no socket, as in tests and behind serverless adapters. */
  readonly isSimulated: boolean;
  /** Whether nothing more is sent: the connection is lost, or its last response is decided. */
  readonly isOver: boolean;
  /** Reads the socket again, unless another request waits. */
  release(): void;
  /** Decides whether a response with this error number, or a success, is the last one. */
  endsAfter(request: QueuedRequest, error: number | undefined): boolean;
  /** Ends with a response that cannot be sent. */
  abort(request: QueuedRequest): void;
  /** Begins the next request, because this one is decided. */
  next(request: QueuedRequest): void;
  /** Removes a request whose response is sent or lost. Returns whether all of it was sent. */
  remove(request: QueuedRequest, isFinished: boolean): boolean;
};

/** Maximum time for which an unwanted body is read and dropped, in milliseconds. */
const maxDrainMs = 5_000;
