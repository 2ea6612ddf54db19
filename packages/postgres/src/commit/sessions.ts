import type { Servers } from '../open/connect.ts';
import { sqlStateOf } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { failureOf, FinalError } from './failures.ts';

/**
 * The connections of creates and checks. One is enough; the server may refuse more. Each is:
 *
 * - being opened, one at a time, while work waits for a connection
 * - idle, when it is opened or released
 * - used by one work
 * - abandoned, after it was lost: it is closed, while its statement may still run on the server
 */
export class Sessions {
  readonly #servers: Servers;
  readonly #idle: Session[];
  readonly #waiting: PromiseWithResolvers<Session>[] = [];
  #used = 0;
  #isConnecting = false;
  /** For the statements of abandoned connections. */
  readonly #cancels: (() => void)[] = [];
  /** After a refused connection, no other is opened until then while one is used. */
  #pauseEnd = 0;
  #failedServer: string | undefined;
  #isClosed = false;
  readonly #unused = Promise.withResolvers<void>();

  constructor(first: Session, servers: Servers) {
    this.#idle = [first];
    this.#servers = servers;
  }

  /**
   * Runs work on an idle connection, a new one, or the next one that is released. Throws what the
   * work throws, or why there is no connection.
   */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new FinalError('the database is closed');
    const next = Promise.withResolvers<Session>();
    this.#waiting.push(next);
    this.#distribute();
    const session = await next.promise;
    try {
      return await work(session);
    } catch (thrown) {
      if (failureOf(thrown) === 'reconnect') {
        // A server that does not respond on one connection does not respond on the others.
        const isLost = sqlStateOf(thrown) === undefined && session.isUsable();
        for (const other of isLost ? this.#idle.splice(0) : []) other.abandon();
        this.#abandon(session);
      }
      throw thrown;
    } finally {
      this.#used -= 1;
      this.#idle.push(session);
      this.#distribute();
    }
  }

  /** Waits for the work in progress, and closes the connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#distribute();
    await this.#unused.promise;
    this.#cancelAllBut(0);
    await Promise.all(this.#idle.map(async (session) => session.close()));
  }

  /** Distributes the idle connections, and opens one more unless one was refused a moment ago. */
  #distribute(): void {
    while (this.#waiting.length > 0) {
      const session = this.#idle.pop();
      if (session === undefined) break;
      if (session.isUsable()) {
        this.#used += 1;
        this.#waiting.shift()?.resolve(session);
      } else {
        this.#failedServer = session.server;
        session.abandon()?.();
      }
    }
    const isPaused = this.#used > 0 && performance.now() < this.#pauseEnd;
    if (this.#waiting.length > 0 && !isPaused && !this.#isConnecting) void this.#connectAnother();
    // Then nothing waits, because a connection would be opened for it.
    if (this.#isClosed && this.#used === 0 && !this.#isConnecting) this.#unused.resolve();
  }

  async #connectAnother(): Promise<void> {
    this.#isConnecting = true;
    const connected = await this.#servers.connect(this.#failedServer);
    this.#isConnecting = false;
    if (connected.isOk()) {
      this.#idle.push(connected.value.session);
      return this.#distribute();
    }
    // They may occupy the last connection that the server permits.
    this.#cancelAllBut(0);
    if (this.#used > 0) {
      // A connection in use is passed on when it is released.
      this.#pauseEnd = performance.now() + pauseMs;
      return;
    }
    const { error, isRefused } = connected.error;
    const ThrownError = isRefused ? FinalError : Error;
    for (const { reject } of this.#waiting.splice(0)) reject(new ThrownError(error.message, error));
    this.#distribute();
  }

  /** Cancels a statement later: a slow server may complete it, and a retry finds its plants. */
  #abandon(session: Session): void {
    const cancel = session.abandon();
    if (cancel !== undefined) this.#cancels.push(cancel);
    this.#cancelAllBut(maxAbandoned);
  }

  #cancelAllBut(rest: number): void {
    while (this.#cancels.length > rest) this.#cancels.shift()?.();
  }
}

const maxAbandoned = 2;
const pauseMs = 1_000;
