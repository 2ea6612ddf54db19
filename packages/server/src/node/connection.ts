import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { dropInput, lingerOnClose } from './lingering-close.ts';
import type { Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

/** Maximum number of requests of one connection that wait for their responses. */
export const maxPipelined = 100;

/**
 * Number of bytes of bodies whose requests are not admitted after which a connection is not read. Node reads up to
 * 64 KiB at once, so that at most 80 KiB of them are kept.
 */
const maxEarlyBytes = 16_384;

const longestBackoffSeconds = 8;

/** Interval at which a delayed request checks whether the server closes, in milliseconds. */
const backoffCheckMs = 1_000;

/** A connection that has sent a request: the order of its exchanges, and when it ends. */
export class Connection {
  /** The latest exchange, until its request is received and its response is sent. */
  latest: Exchange | undefined;
  /** Whether a response had `Connection: close`. Later requests get no response. */
  hasEnded = false;
  /** Stands for all requests that are ignored. */
  ignored: IncomingMessage | undefined;
  /** Number of consecutive requests that were refused because the server is overloaded. */
  refusals = 0;
  readonly context: ServerContext;
  /** The address at its other end; read now, because a lost connection has none. */
  readonly address: string | undefined;
  private readonly socket: Socket;
  /** Exchanges whose responses are not sent yet. Replaced at each removal, because an emptied array or Set keeps its memory. */
  private pending: Exchange[] = [];
  /** Exchanges that have not begun: only safe methods may run in parallel (RFC 9112 §9.3.2). */
  private readonly queue: Exchange[] = [];
  private isBusy = false;
  private idleSince = performance.now();
  /** Whether a request was ignored. */
  private dropsInput = false;
  private backoffUntil = 0;
  /** Number of bytes of bodies whose requests are not admitted. */
  private earlyBytes = 0;
  private guardsResume = false;
  private listensForClose = false;

  constructor(context: ServerContext, socket: Socket) {
    this.context = context;
    this.socket = socket;
    this.address = socket.remoteAddress;
    lingerOnClose(socket);
  }

  /** Whether the next request exceeds the limit. */
  get isFull(): boolean {
    return this.pending.length === maxPipelined;
  }

  /** Whether further requests are ignored. */
  get refusesMore(): boolean {
    return this.hasEnded || this.pending.length > maxPipelined;
  }

  /** Ignores a request and stops parsing further ones. Node still parses those of the same packet. */
  ignore(): void {
    if (!this.dropsInput) dropInput(this.socket);
    this.dropsInput = true;
  }

  /** Begins an exchange, after the exchanges before it. */
  add(exchange: Exchange): void {
    this.latest = exchange;
    this.pending.push(exchange);
    if (this.pending.length > 1) this.listenForClose();
    // An earlier listener may have responded, or its client may have disconnected.
    if (this.socket.destroyed || exchange.response.destroyed) exchange.onClosed();
    if (this.isBusy) {
      this.queue.push(exchange);
      exchange.collectBody();
    } else this.begin(exchange);
  }

  /** Node 22 does not emit 'close' on responses that are queued behind others. */
  private listenForClose(): void {
    if (this.listensForClose) return;
    this.listensForClose = true;
    this.socket.once('close', () => {
      for (const exchange of this.pending) exchange.onClosed();
    });
  }

  /** Begins the next exchange, after the response of the current one is decided. */
  next(): void {
    this.isBusy = false;
    const next = this.queue.shift();
    if (next !== undefined) this.begin(next);
  }

  /** Whether the socket is not read because of early bytes. */
  private get isHeld(): boolean {
    return this.earlyBytes > maxEarlyBytes && !this.hasEnded;
  }

  /** Adds to the number of early bytes. */
  countEarly(bytes: number): void {
    this.earlyBytes += bytes;
    if (this.isHeld) this.hold();
    else if (bytes < 0) this.socket.resume();
  }

  private hold(): void {
    const { socket } = this;
    socket.pause();
    if (this.guardsResume) return;
    this.guardsResume = true;
    const resume = socket.resume.bind(socket);
    // Node resumes the socket after each request.
    Object.assign(socket, { resume: () => (this.isHeld ? socket : resume()) });
  }

  /** Removes an exchange whose response is sent or lost. */
  remove(exchange: Exchange): void {
    this.pending = this.pending.filter((other) => other !== exchange);
    // The head of the request has a token, which an idle connection must not keep in memory.
    if (this.latest === exchange && exchange.request.complete) this.latest = undefined;
    if (this.pending.length === 0) this.idleSince = performance.now();
  }

  /** Ends the connection if it has been idle since before `since`, a time of `performance.now()`. */
  endIfIdle(since: number): void {
    if (this.pending.length === 0 && this.idleSince < since) this.socket.destroy();
  }

  /** Value of Retry-After for a request that is refused now; it doubles with each refusal in a row. */
  get retryAfterSeconds(): number {
    return Math.min(longestBackoffSeconds, 2 ** this.refusals);
  }

  /** Delays the next request, because some clients ignore `Retry-After`. */
  backOff(): void {
    this.backoffUntil = performance.now() + this.retryAfterSeconds * 1_000;
    this.refusals += 1;
  }

  private begin(exchange: Exchange): void {
    this.isBusy = true;
    if (this.context.isClosing()) {
      // Later requests of the same packet are parsed first, so that only the last response ends the connection.
      exchange.collectBody();
      setImmediate(() => exchange.begin());
    } else if (this.refusals > 0) this.beginAfterBackoff(exchange);
    else exchange.begin();
  }

  private beginAfterBackoff(exchange: Exchange): void {
    const remainingMs = this.backoffUntil - performance.now();
    if (remainingMs <= 0 || this.context.isClosing()) {
      exchange.begin();
      return;
    }
    exchange.collectBody();
    setTimeout(() => this.beginAfterBackoff(exchange), Math.min(remainingMs, backoffCheckMs));
  }
}
