import { type Connect, nextPauseMs } from '../open/connect.ts';
import { sqlStateOf } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { failureOf, NoServer } from './failures.ts';

/**
 * Creates the connections of creates and checks. One is enough; the server may refuse more. Each is
 * idle, used by one work, or abandoned: closed while its statement may still run on the server.
 */
export function createSessions(first: Session, connect: Connect) {
  const idle = [first];
  const waiting: PromiseWithResolvers<Session>[] = [];
  const unused = Promise.withResolvers<void>();
  /** For the statements of abandoned connections. */
  const cancels: (() => void)[] = [];
  let used = 0;
  let connecting: Promise<void> | undefined;
  let pauseMs: number | undefined;
  let pauseEnd = -Infinity;
  let failed: string | undefined;
  let isClosed = false;
  return { use, close };

  /**
   * Runs work on an idle connection, a new one, or the next one that is released. Throws what the
   * work throws, or {@link NoServer}.
   */
  async function use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (isClosed) throw new NoServer(new Error('the database is closed'), true);
    const next = Promise.withResolvers<Session>();
    waiting.push(next);
    distribute();
    const session = await next.promise;
    try {
      return await work(session);
    } catch (thrown) {
      // A server that does not respond on one connection does not respond on the others.
      const isLost = sqlStateOf(thrown) === undefined && session.isUsable();
      for (const other of isLost ? idle.splice(0) : []) other.abandon();
      if (failureOf(thrown) === 'reconnect') abandon(session);
      throw thrown;
    } finally {
      used -= 1;
      idle.push(session);
      distribute();
      if (isClosed && used === 0) unused.resolve();
    }
  }

  /** Waits for the work in progress, and closes the connections. */
  async function close(): Promise<void> {
    isClosed = true;
    await connecting;
    if (used > 0) await unused.promise;
    await connecting;
    cancel(cancels);
    await Promise.all(idle.map(async (session) => session.close()));
  }

  /** Distributes the idle connections, and opens one more unless one was refused a moment ago. */
  function distribute(): void {
    while (waiting.length > 0) {
      const session = idle.pop();
      if (session === undefined) break;
      if (session.isUsable()) {
        used += 1;
        waiting.shift()?.resolve(session);
      } else {
        failed = session.server;
        session.abandon()?.();
      }
    }
    const isPaused = used > 0 && performance.now() < pauseEnd;
    if (waiting.length > 0 && !isPaused) connecting ??= connectAnother();
  }

  async function connectAnother(): Promise<void> {
    const connected = await connect(failed);
    connecting = undefined;
    if (connected.isOk()) {
      pauseMs = undefined;
      pauseEnd = -Infinity;
      idle.push(connected.value.session);
      return distribute();
    }
    // They may occupy the last connection that the server permits.
    cancel(cancels);
    if (used > 0) {
      // A connection in use is passed on when it is released.
      pauseMs = nextPauseMs(pauseMs);
      pauseEnd = performance.now() + pauseMs;
      return;
    }
    const { error, isRefused } = connected.error;
    for (const { reject } of waiting.splice(0)) reject(new NoServer(error, isRefused));
  }

  /**
   * Cancels a statement only later: a slow server may complete it, and a retry finds its plants.
   */
  function abandon(session: Session): void {
    const cancelStatement = session.abandon();
    if (cancelStatement !== undefined) cancels.push(cancelStatement);
    cancel(cancels, maxAbandoned);
  }
}

export type Sessions = ReturnType<typeof createSessions>;

const maxAbandoned = 2;

function cancel(cancels: (() => void)[], rest = 0): void {
  for (const one of cancels.splice(0, Math.max(cancels.length - rest, 0))) one();
}
