import { AsyncResource } from 'node:async_hooks';
import { type Duplex, finished } from 'node:stream';
import { errorTable } from '@plantstore/core/errors';
import { pairsOf, type ResponseData } from '../../http/responses.ts';
import { loadHttp } from '../builtin-http.ts';
import { dropInput, end, endAfterLastResponse, type Ending } from './endings.ts';
import { type Arrival, type Line, QueuedRequest } from './queued-request.ts';
import { Reading } from './reading.ts';
import type { ConnectionRules } from './turn.ts';

/**
 * A connection that has sent something: the order of its requests, and the one owner that decides
 * that it ends. It is
 * - open: its requests begin one after the other, and it is read unless one of them waits;
 * - broken, from `fail`: no more is parsed. What has arrived before still gets its responses;
 * - ending, once a response is the last one (`endsAfter`) or there is another reason (`#end`):
 *   later requests get no response;
 * - lost, at any time: the socket is destroyed, and its requests end without a response.
 */
export class Connection implements Line {
  /** Read now, because a lost connection has none. */
  readonly address: string | undefined;
  readonly rules: ConnectionRules;
  /** `undefined` for a simulated one, and if another listener has detached it from the request. */
  readonly #socket: Duplex | undefined;
  readonly #reading: Reading;
  #isBroken = false;
  #ending: Ending | undefined;
  /** The latest request, until it is received and its response is sent. */
  #latest: QueuedRequest | undefined;
  /** The request that has begun and is not decided. */
  #current: QueuedRequest | undefined;
  /** Those that have not begun: only safe methods may run in parallel (RFC 9112 §9.3.2). */
  readonly #queue: QueuedRequest[] = [];
  /**
   * Requests whose responses are not sent yet. Replaced at each removal, because an emptied array
   * or Set keeps its memory.
   */
  #unsent: QueuedRequest[] = [];
  #isListening = false;
  /** Number of requests whose heads have arrived. */
  #count = 0;
  /** Number of requests that get no response. */
  #refused = 0;

  constructor(rules: ConnectionRules, socket: Duplex | undefined, address: string | undefined) {
    this.rules = rules;
    this.#socket = socket;
    this.address = address;
    this.#reading = new Reading(socket);
    if (socket !== undefined) endAfterLastResponse(socket);
  }

  /** Serves a request after the requests before it. */
  serve(arrival: Arrival): void {
    if (this.#ending !== undefined || this.#unsent.length === maxWaiting) {
      this.#refuse();
      return;
    }
    if (this.#latest === undefined) this.#reading.restart();
    const request = new QueuedRequest(this, arrival);
    this.#latest = request;
    this.#count += 1;
    this.#unsent.push(request);
    if (this.#unsent.length > 1) this.#listen();
    if (this.#current === undefined) this.#begin(request, false);
    else {
      this.#queue.push(request);
      this.#hold(request);
    }
    // An earlier listener may have responded, or its client may have disconnected.
    if (this.#isLost() || arrival.response.destroyed) request.onClosed();
  }

  /** Node parses and keeps every request of a packet. */
  #refuse(): void {
    this.#refused += 1;
    if (this.#socket === undefined) return;
    if (this.#unsent.length + this.#refused > maxWaiting) this.#end('too many requests');
    else dropInput(this.#socket);
  }

  #begin(request: QueuedRequest, isLater: boolean): void {
    this.#current = request;
    if (this.rules.isClosing()) {
      // Later requests of the same packet are parsed first, so that only the last response ends the
      // connection.
      this.#hold(request);
      setImmediate(() => request.begin(true));
      return;
    }
    request.begin(isLater);
    if (request.phase === 'waiting') this.#hold(request);
  }

  /** Stops reading the socket while a request waits, and collects what has arrived of its body. */
  #hold(request: QueuedRequest): void {
    request.collect();
    if (this.#ending !== undefined) return;
    this.#listen();
    this.#reading.hold();
  }

  release(): void {
    if (this.#queue.length > 0) return;
    this.#reading.release();
    this.#readOnceSent();
  }

  #readOnceSent(): void {
    if (!this.#reading.isStopped) return;
    const last = this.#unsent.at(-1);
    const isUnsent = (request: QueuedRequest) =>
      request.response.writableLength > 0 && (request !== last || request.response.writableEnded);
    if (!this.#unsent.some(isUnsent)) this.#reading.start();
  }

  next(request: QueuedRequest): void {
    if (request !== this.#current) return;
    do this.#current = this.#queue.shift();
    while (this.#current?.phase === 'decided');
    if (this.#current === undefined) this.release();
    else this.#begin(this.#current, true);
  }

  get isSimulated(): boolean {
    return this.#socket === undefined;
  }

  get isOver(): boolean {
    return this.#ending !== undefined || this.#isLost();
  }

  /**
   * A request may have no socket, but its connection does. No getter, because V8 calls a private
   * one slowly.
   */
  #isLost(): boolean {
    return this.#socket?.destroyed === true;
  }

  endsAfter(request: QueuedRequest, error: number | undefined): boolean {
    const isLast =
      request.failure !== undefined ||
      !request.response.shouldKeepAlive ||
      // The client may or may not send its body. Node ends such a connection, too.
      request.awaitsContinue ||
      (this.rules.isClosing() && this.#latest === request) ||
      isNextUnknown(request, this.rules.maxBodyBytes, error);
    if (isLast) this.#ending = 'last response';
    return isLast;
  }

  abort({ response }: QueuedRequest): void {
    this.#ending = 'response conflict';
    // A response behind others has no socket yet: that is destroyed once it gets it.
    response.destroy();
    response.once('socket', () => this.#end('response conflict'));
  }

  remove(request: QueuedRequest, isFinished: boolean): boolean {
    this.#unsent = this.#unsent.filter((other) => other !== request);
    this.#readOnceSent();
    if (this.#latest === request) {
      if (request.request.complete || this.#socket?.destroyed !== false) this.#latest = undefined;
      else finished(request.request, () => this.#onReceived(request));
    }
    // After a failed write, Node 22 emits 'finish', too, just before it destroys the socket.
    const hasFailed = this.#isLost() || (this.#socket?.errored ?? null) !== null;
    return isFinished && !hasFailed;
  }

  /** Handles the end of a request whose response is sent already. */
  #onReceived(request: QueuedRequest): void {
    // The head of the request has a token, which an idle connection must not keep in memory.
    if (this.#latest === request) this.#latest = undefined;
    if (!request.request.complete && this.#ending === undefined) this.#end('request destroyed');
  }

  /** Ends after the earlier responses because of a parse error or a timeout. */
  fail(ending: 'parse error' | 'timeout', response: ResponseData, makeRaw: MakeRaw): void {
    // Node can report several.
    if (this.#isBroken || this.#isLost()) return;
    const again = () => this.fail(ending, response, makeRaw);
    if (ending === 'timeout' && this.#afterUnreadTime(again)) return;
    this.#isBroken = true;
    // A request that arrives after its timeout is not served.
    if (this.#socket !== undefined) dropInput(this.#socket);
    const latest = this.#latest;
    if (latest === undefined || latest.request.complete) this.endAfterResponses(ending, makeRaw);
    // An incomplete request has a response object of its own.
    else if (!latest.response.headersSent) latest.fail(response);
    else {
      latest.response.end();
      this.endAfterResponses(ending);
    }
  }

  /** Ends once the responses are sent, with another one, unless one of them has ended it. */
  endAfterResponses(ending: Ending, makeRaw?: MakeRaw): void {
    const endUnlessEnded = () => {
      if (this.#ending === undefined) this.#end(ending, makeRaw?.());
    };
    const response = this.#latest?.response;
    if (response === undefined || response.writableFinished) endUnlessEnded();
    // Before Node's listener, which ends the connection if the client has half-closed it. Not in
    // the context of that response.
    else response.prependOnceListener('finish', AsyncResource.bind(endUnlessEnded));
  }

  #end(ending: Ending, raw?: RawResponse): void {
    this.#ending = ending;
    if (this.#socket !== undefined) end(this.#socket, ending, raw && bytesOf(raw), raw?.onEnded);
  }

  /** Takes the place of Node, which has removed its listeners from the socket of a CONNECT. */
  watch(): void {
    // Without a listener, a connection reset would be an uncaught exception.
    this.#socket?.on('error', () => {});
    // A client may never read the responses before this one.
    this.#socket?.on('timeout', () => this.#end('unread responses'));
  }

  /**
   * Calls back after the time in which the socket was not read, which the timeouts of Node include,
   * unless the request has arrived. Returns whether there was such a time.
   */
  #afterUnreadTime(onTimeout: () => void): boolean {
    const unreadMs = this.#reading.takeUnreadMs();
    if (unreadMs === 0) return false;
    const arriving = this.#arriving;
    const check = () => {
      if (this.#arriving === arriving) onTimeout();
    };
    // At least the interval in which Node checks its timeouts.
    setTimeout(check, Math.max(unreadMs, 1_000)).unref();
    return true;
  }

  /** The number of the request that arrives now or next. */
  get #arriving(): number {
    return this.#latest?.request.complete === false ? this.#count : this.#count + 1;
  }

  /** Not for each connection, because an idle one would keep the listener in memory. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    // Node 22 does not emit 'close' on responses that are queued behind others.
    this.#socket?.once('close', () => {
      for (const request of this.#unsent) request.onClosed();
    });
  }
}

/** A response for which Node has no response object. */
export type RawResponse = Pick<ResponseData, 'status' | 'headers' | 'body'> & {
  /** Called once, when it is written or the connection is lost. */
  readonly onEnded: (isWritten: boolean) => void;
};

type MakeRaw = () => RawResponse;

/** Maximum number of requests of one connection that wait for their responses. */
export const maxWaiting = 32;

/**
 * Returns whether the start of the next request is unknown after a response with this error number,
 * or a success (RFC 9112 §9.6), or a body that is too large would have to be read first.
 */
function isNextUnknown(
  { head, phase, isReceived }: QueuedRequest,
  maxBodyBytes: number,
  error: number | undefined,
): boolean {
  const { upgrade, method, target, transferEncoding, contentLength = 0 } = head;
  // For another protocol (Node drops bytes of the next request that have already arrived) or for a
  // proxy.
  if (upgrade !== undefined || method === 'TRACE' || !target.startsWith('/')) return true;
  if (phase === 'reading') return !isReceived;
  // A small body is read and dropped.
  const isSmall = transferEncoding === undefined && Number(contentLength) <= maxBodyBytes;
  return framingErrors.has(error) || !isSmall;
}

/** Errors after which the start of the next request is unknown. */
const framingErrors: ReadonlySet<number | undefined> = new Set([
  errorTable['bad-request'].error,
  errorTable['headers-too-large'].error,
]);

function bytesOf({ status, headers, body }: RawResponse): string {
  const own = ['Date', new Date().toUTCString(), 'Connection', 'close'];
  const lines = pairsOf([...headers, ...own]).map(([name, value]) => `${name}: ${value}\r\n`);
  const reason = loadHttp().STATUS_CODES[status] ?? '';
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`;
}
