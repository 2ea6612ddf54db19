import type { Duplex } from 'node:stream';

/**
 * Whether a socket is read, and for how long it was not. It is
 * - `reading`: Node reads it;
 * - `held`: an exchange waits for its admission or its turn, so that nothing more is kept of it;
 * - `stopped`: no exchange waits any more, but Node may have stopped it, too, until the responses
 *   are sent.
 */
export class Reading {
  readonly #socket: Duplex | undefined;
  #mode: 'reading' | 'held' | 'stopped' = 'reading';
  /** When the mode was last `reading`. */
  #stoppedAt = 0;
  /** For how long the socket was not read while a request arrived, in milliseconds. */
  #unreadMs = 0;
  #isListening = false;

  constructor(socket: Duplex | undefined) {
    this.#socket = socket;
  }

  /** Whether it can be started again, once the responses are sent. */
  get isStopped(): boolean {
    return this.#mode === 'stopped';
  }

  hold(): void {
    if (this.#mode === 'held') return;
    if (this.#mode === 'reading') this.#stoppedAt = performance.now();
    this.#mode = 'held';
    this.#listen();
    this.#pause();
  }

  release(): void {
    if (this.#mode === 'held') this.#mode = 'stopped';
  }

  start(): void {
    this.#mode = 'reading';
    this.#unreadMs += performance.now() - this.#stoppedAt;
    const handle = handleOf(this.#socket);
    if (handle?.reading === true) handle.readStart();
    this.#socket?.resume();
  }

  /** Counts the time for the next request. */
  restart(): void {
    this.#unreadMs = 0;
  }

  /** Returns the time in which the socket was not read, and counts from now on. */
  takeUnreadMs(): number {
    const now = performance.now();
    const unreadMs = this.#unreadMs + (this.#mode === 'reading' ? 0 : now - this.#stoppedAt);
    this.#unreadMs = 0;
    this.#stoppedAt = now;
    return unreadMs;
  }

  #pause(): void {
    this.#socket?.pause();
    handleOf(this.#socket)?.readStop();
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    // Node resumes a socket after each request. A resume takes effect a turn later, even after a
    // pause.
    this.#socket?.on('resume', () => {
      if (this.#mode === 'held') this.#pause();
    });
  }
}

/**
 * Undocumented. Otherwise, a paused stream reads on until its buffer is full, unless Node's parser
 * reads for it.
 */
function handleOf(socket: Duplex | undefined): Handle | undefined {
  return (socket as { readonly _handle?: Handle } | undefined)?._handle;
}

type Handle = { readonly reading: boolean; readStart(): void; readStop(): void };
