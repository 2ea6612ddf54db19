import { type Connect, nextPauseMs } from '../open/connect.ts';
import type { Address } from '../open/database-url.ts';
import { sqlStateOf } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { NoServer, retryStrategyOf } from './failures.ts';

/** Creates the connections of lanes and checks. One is enough; the server may refuse more. */
export function createSessions(first: Session, connect: Connect) {
  const idle = [first];
  const waiting: PromiseWithResolvers<Session>[] = [];
  let used = 0;
  let connecting: Promise<void> | undefined;
  let pauseMs: number | undefined;
  let pauseEnd = -Infinity;
  let failed: Address | undefined;
  let isClosed = false;
  const unused = Promise.withResolvers<void>();

  /** Distributes the idle connections, and opens another one unless the server refused one a moment ago. */
  const distribute = (): void => {
    while (waiting.length > 0) {
      const session = idle.pop();
      if (session === undefined) break;
      if (session.isUsable()) {
        used += 1;
        waiting.shift()?.resolve(session);
      } else failed = session.address;
    }
    const isPaused = used > 0 && performance.now() < pauseEnd;
    if (waiting.length > 0 && !isPaused) connecting ??= connectAnother();
  };

  const connectAnother = async (): Promise<void> => {
    const connected = await connect(failed);
    connecting = undefined;
    if (connected.isOk()) {
      pauseMs = undefined;
      pauseEnd = -Infinity;
      idle.push(connected.value.session);
      distribute();
      return;
    }
    if (used > 0) {
      // A connection in use is passed on when it is released.
      pauseMs = nextPauseMs(pauseMs);
      pauseEnd = performance.now() + pauseMs;
      return;
    }
    const { error, isRefused } = connected.error;
    for (const { reject } of waiting.splice(0)) reject(new NoServer(error, isRefused));
  };

  return {
    /**
     * Runs work on an idle connection, a new one, or the next one that is released. `onLost` gets a
     * connection that cannot be used again. Throws what the work throws, or {@link NoServer}.
     */
    use: async <T>(
      work: (session: Session) => Promise<T>,
      onLost = ({ destroy }: Session) => destroy(),
    ): Promise<T> => {
      if (isClosed) throw new NoServer(new Error('the database is closed'), true);
      const next = Promise.withResolvers<Session>();
      waiting.push(next);
      distribute();
      const session = await next.promise;
      try {
        return await work(session);
      } catch (thrown) {
        // A server that does not respond on one connection does not respond on the others.
        if (sqlStateOf(thrown) === undefined && session.isUsable())
          for (const other of idle.splice(0)) other.destroy();
        if (retryStrategyOf(thrown) === 'reconnect') onLost(session);
        throw thrown;
      } finally {
        used -= 1;
        idle.push(session);
        distribute();
        if (isClosed && used === 0) unused.resolve();
      }
    },
    /** Waits for the work in progress, and closes the connections. */
    close: async (): Promise<void> => {
      isClosed = true;
      await connecting;
      if (used > 0) await unused.promise;
      await connecting;
      await Promise.all(idle.map(async (session) => session.close()));
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;
