import type { Socket } from 'node:net';
import { dropInput, lingerOnClose } from './lingering-close.ts';
import type { Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

/** How many requests of one connection may wait for their responses. */
export const maxPipelined = 100;

/** How many requests Node may already have parsed after the last one that gets a response. */
const maxExcess = 300;

const longestBackoffSeconds = 8;

/** How often a request that backs off looks whether the server closes, in milliseconds. */
const backoffCheckMs = 1_000;

/** One connection, once it has sent a request: its exchanges, and how it goes on. */
export class Connection {
  /** The latest exchange, while anything of it can still be sent or received. */
  latest: Exchange | undefined;
  /** Whether an answer has said that the connection ends; what follows gets no response. */
  hasEnded = false;
  /** How many requests in a row were refused because the server is overloaded. */
  refusals = 0;
  readonly context: ServerContext;
  /** The address at its other end; read now, because a lost connection has none. */
  readonly address: string | undefined;
  private readonly socket: Socket;
  /** The exchanges whose responses are not sent yet. */
  private readonly unanswered = new Set<Exchange>();
  /** Those that have not begun: only safe methods may overlap (RFC 9112 §9.3.2). */
  private readonly queue: Exchange[] = [];
  private isBusy = false;
  private idleSince = performance.now();
  /** How many requests have arrived that get no response. */
  private excess = 0;
  private backoffUntil = 0;

  constructor(context: ServerContext, socket: Socket) {
    this.context = context;
    this.socket = socket;
    this.address = socket.remoteAddress;
    lingerOnClose(socket);
    // Node 22 does not emit it on responses that wait behind others.
    socket.once('close', () => {
      for (const exchange of this.unanswered) exchange.onClosed();
    });
  }

  /** Whether the next request is the first one too many. */
  get isFull(): boolean {
    return this.unanswered.size === maxPipelined;
  }

  /** Whether a request that arrives now gets no response. */
  get refusesMore(): boolean {
    return this.hasEnded || this.unanswered.size > maxPipelined;
  }

  /**
   * Ignores a request, and has no more of them parsed. Node keeps those that came in the same packet,
   * so a client that sends many is disconnected.
   */
  ignore(): void {
    if (this.excess === 0) dropInput(this.socket);
    this.excess += 1;
    if (this.excess > maxExcess) this.socket.destroy();
  }

  /** Begins an exchange, at once or after those before it. */
  add(exchange: Exchange): void {
    this.latest = exchange;
    this.unanswered.add(exchange);
    // A listener in front of this one may have responded, or have taken longer than its client waits.
    if (this.socket.destroyed || exchange.response.destroyed) exchange.onClosed();
    if (this.isBusy) {
      this.queue.push(exchange);
      exchange.collectBody();
    } else this.begin(exchange);
  }

  /** Begins the next exchange, because the one before it is decided. */
  next(): void {
    this.isBusy = false;
    const next = this.queue.shift();
    if (next !== undefined) this.begin(next);
  }

  /** Forgets an exchange of which nothing can be sent any more. */
  remove(exchange: Exchange): void {
    this.unanswered.delete(exchange);
    // An idle connection keeps no request, because its head has a token.
    if (this.latest === exchange && exchange.request.complete) this.latest = undefined;
    if (this.unanswered.size === 0) this.idleSince = performance.now();
  }

  /** Ends the connection if no request has arrived on it since a time of `performance.now()`. */
  endIfIdle(since: number): void {
    if (this.unanswered.size === 0 && this.idleSince < since) this.socket.destroy();
  }

  /** After how many seconds a client may come back that is refused now: longer each time in a row. */
  get retryAfterSeconds(): number {
    return Math.min(longestBackoffSeconds, 2 ** this.refusals);
  }

  /** Delays the next request, so that clients that ignore `Retry-After` take no time of the others. */
  backOff(): void {
    this.backoffUntil = performance.now() + this.retryAfterSeconds * 1_000;
    this.refusals += 1;
  }

  private begin(exchange: Exchange): void {
    this.isBusy = true;
    if (this.context.isClosing()) {
      // The other requests of its packet arrive first, so that only the last answer ends the connection.
      exchange.collectBody();
      setImmediate(beginNow, exchange);
    } else if (this.refusals > 0) {
      this.beginAfterBackoff(exchange);
    } else {
      exchange.begin();
    }
  }

  private beginAfterBackoff(exchange: Exchange): void {
    const left = this.backoffUntil - performance.now();
    if (left <= 0 || this.context.isClosing()) {
      exchange.begin();
      return;
    }
    exchange.collectBody();
    setTimeout(() => this.beginAfterBackoff(exchange), Math.min(left, backoffCheckMs));
  }
}

const beginNow = (exchange: Exchange): void => exchange.begin();
