import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import type { RequestSource } from '../http/request-record.ts';
import type { ResponseData } from '../http/responses.ts';
import type { Service } from '../http/service.ts';
import { closeSlowly, closeSlowlyByDefault, dropInput } from './drain.ts';

/** A connection that has sent a request: the order of its exchanges, when it is read, and when it ends. */
export class Connection {
  readonly shared: SharedState;
  /** The latest exchange, until its request is received and its response is sent. */
  latest: QueuedExchange | undefined;
  /** Whether a response had `Connection: close`. Later requests get no response. */
  hasEnded = false;
  /** The address at its other end; read now, because a lost connection has none. */
  readonly address: string | undefined;
  /** `undefined` for a simulated one, and if another listener has detached it from the request. */
  readonly socket: Duplex | undefined;
  /** Exchanges whose responses are not sent yet. Replaced at each removal, because an emptied array or Set keeps its memory. */
  private pending: QueuedExchange[] = [];
  /** Exchanges that have not begun: only safe methods may run in parallel (RFC 9112 §9.3.2). */
  private readonly queue: QueuedExchange[] = [];
  private isBusy = false;
  /** Whether the socket is not read, because an exchange waits for its admission or its turn. */
  private isHeld = false;
  /** When reading the socket stopped; `undefined` while it is read. */
  private stoppedAt: number | undefined;
  /** For how long it was not read while a request arrived, in milliseconds. */
  private unreadMs = 0;
  private isListening = false;
  /** Number of requests whose heads have arrived. */
  private count = 0;
  /** Number of requests that get no response. */
  private refused = 0;

  constructor(shared: SharedState, socket: Duplex | undefined, address: string | undefined) {
    this.shared = shared;
    this.socket = socket;
    this.address = address;
    if (socket !== undefined) closeSlowlyByDefault(socket);
  }

  /** Whether the connection is lost. A request may have no socket, but its connection does. */
  get isLost(): boolean {
    return this.socket?.destroyed === true;
  }

  /** Whether a write has failed. Node 22 then emits 'finish' on the response, too, just before it destroys the socket. */
  get hasFailed(): boolean {
    return this.isLost || (this.socket !== undefined && this.socket.errored !== null);
  }

  /** Whether the next request gets no response, because the connection has ended or has too many requests. */
  get refusesMore(): boolean {
    return this.hasEnded || this.pending.length === maxWaiting;
  }

  /** Begins an exchange, after the exchanges before it. */
  add(exchange: QueuedExchange): void {
    if (this.latest === undefined) this.unreadMs = 0;
    this.latest = exchange;
    this.count += 1;
    this.pending.push(exchange);
    if (this.pending.length > 1) this.listen();
    // An earlier listener may have responded, or its client may have disconnected.
    if (this.isLost || exchange.response.destroyed) exchange.onClosed();
    if (this.isBusy) {
      this.queue.push(exchange);
      this.hold(exchange);
    } else this.begin(exchange, false);
  }

  /** Refuses a request after the last response, or above the limit. Node parses and keeps every request of a packet. */
  refuse(): void {
    this.refused += 1;
    if (this.socket === undefined) return;
    if (this.pending.length + this.refused > maxWaiting) this.socket.destroy();
    else dropInput(this.socket);
  }

  /** Begins the next exchange, after the response of the current one is decided. */
  next(): void {
    this.isBusy = false;
    const next = this.queue.shift();
    if (next === undefined) this.release();
    else this.begin(next, true);
  }

  /** Stops reading the socket while an exchange waits, and collects what has arrived of its body. */
  hold(exchange: QueuedExchange): void {
    exchange.collectBody();
    if (this.isHeld || this.hasEnded) return;
    this.isHeld = true;
    this.stoppedAt ??= performance.now();
    this.listen();
    this.stopReading();
  }

  private stopReading(): void {
    this.socket?.pause();
    handleOf(this.socket)?.readStop();
  }

  /** Reads the socket again, unless another exchange waits. */
  release(): void {
    if (!this.isHeld || this.queue.length > 0) return;
    this.isHeld = false;
    this.resume();
  }

  /** Reads the socket once the responses are sent, because Node may have stopped it until then, too. */
  private resume(): void {
    if (this.isHeld || this.stoppedAt === undefined) return;
    const last = this.pending.at(-1)?.response;
    const isUnsent = ({ response }: QueuedExchange) =>
      response.writableLength > 0 && (response !== last || response.writableEnded);
    if (this.pending.some(isUnsent)) return;
    this.unreadMs += performance.now() - this.stoppedAt;
    this.stoppedAt = undefined;
    const handle = handleOf(this.socket);
    if (handle?.reading === true) handle.readStart();
    this.socket?.resume();
  }

  /**
   * Calls back after the time in which the socket was not read, which the timeouts of Node include, unless the request
   * has arrived. Returns whether there was such a time.
   */
  afterUnreadTime(onTimeout: () => void): boolean {
    const now = performance.now();
    const unreadMs = this.unreadMs + now - (this.stoppedAt ?? now);
    if (unreadMs === 0) return false;
    this.unreadMs = 0;
    if (this.stoppedAt !== undefined) this.stoppedAt = now;
    const { incoming } = this;
    const check = () => {
      if (this.incoming === incoming) onTimeout();
    };
    // At least the interval in which Node checks its timeouts.
    setTimeout(check, Math.max(unreadMs, 1_000)).unref();
    return true;
  }

  /** The number of the request that arrives now or next. */
  private get incoming(): number {
    return this.latest?.request.complete === false ? this.count : this.count + 1;
  }

  /** Removes an exchange whose response is sent or lost. */
  remove(exchange: QueuedExchange): void {
    this.pending = this.pending.filter((other) => other !== exchange);
    this.resume();
    if (this.latest !== exchange) return;
    if (exchange.request.complete || this.socket?.destroyed !== false) this.latest = undefined;
    else finished(exchange.request, () => this.onReceived(exchange));
  }

  /** Handles the end of a request whose response is sent already. */
  private onReceived(exchange: QueuedExchange): void {
    // The head of the request has a token, which an idle connection must not keep in memory.
    if (this.latest === exchange) this.latest = undefined;
    if (exchange.request.complete || this.hasEnded || this.socket === undefined) return;
    // Another listener has destroyed the request, so that the next one cannot be found.
    this.hasEnded = true;
    closeSlowly(this.socket);
  }

  private begin(exchange: QueuedExchange, isLater: boolean): void {
    this.isBusy = true;
    if (this.shared.isClosing()) {
      // Later requests of the same packet are parsed first, so that only the last response ends the connection.
      this.hold(exchange);
      setImmediate(() => exchange.beginLater());
    } else if (isLater) exchange.beginLater();
    else exchange.begin();
  }

  private listen(): void {
    const { socket } = this;
    if (this.isListening || socket === undefined) return;
    this.isListening = true;
    // Node 22 does not emit 'close' on responses that are queued behind others.
    socket.once('close', () => {
      for (const exchange of this.pending) exchange.onClosed();
    });
    // Node resumes a socket after each request. A resume takes effect a turn later, even after a pause.
    socket.on('resume', () => {
      if (this.isHeld) this.stopReading();
    });
  }
}

/** Maximum number of requests of one connection that wait for their responses. */
export const maxWaiting = 32;

/** A request and its response, in the order of their connection. */
export type QueuedExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Collects what arrives of the body before the exchange is admitted. */
  readonly collectBody: () => void;
  /** Called once, when the request arrives, unless exchanges before it are not decided. */
  readonly begin: () => void;
  /** Called once they are, instead. */
  readonly beginLater: () => void;
  /** Responds to a request whose connection has a parse error or a timeout, in the order of responses. */
  readonly failWith: (response: ResponseData) => void;
  /** Called when the response is sent or the connection is lost. Only the first call counts. */
  readonly onClosed: () => void;
};

/** State that the connections and exchanges of a server share. */
export type SharedState = RequestSource & {
  readonly service: Service;
  /** Maximum number of requests in flight: admitted, and not decided. */
  readonly maxInFlight: number;
  inFlight: number;
  /** Number of requests that the deadline of a stop has cut; `undefined` before it. */
  cut?: number;
  readonly isClosing: () => boolean;
};

/** Undocumented. Otherwise, a paused stream reads on until its buffer is full, unless Node's parser reads for it. */
function handleOf(socket: Duplex | undefined): Handle | undefined {
  return (socket as { readonly _handle?: Handle } | undefined)?._handle;
}

type Handle = { readonly reading: boolean; readStart(): void; readStop(): void };
