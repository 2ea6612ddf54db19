import { type EventEmitter, once } from 'node:events';
import { describeCause, type Logger } from '@plantstore/server';
import { ignoredSignals } from './ignored-signals.ts';

/** How a run of the server ends. */
export type Stop = {
  /** Aborts at the first SIGTERM or SIGINT: requests in flight are finished. */
  readonly requested: AbortSignal;
  /** Aborts at the second signal, at an uncaught exception, or by the caller: the process exits without a wait. */
  readonly atOnce: AbortController;
  /** Sets the task to run at SIGHUP, and runs it now if a SIGHUP came before. A SIGHUP never ends the process. */
  readonly onHangUp: (task: () => void) => void;
  readonly removeListeners: () => void;
};

/** Adds listeners for signals and uncaught exceptions of `process`, which log what they do. */
export function createStop(process: EventEmitter, log: Logger): Stop {
  const requested = new AbortController();
  const atOnce = new AbortController();
  let hangUpTask: (() => void) | undefined;
  let isHangUpMissed = false;

  const onStop = () => {
    if (requested.signal.aborted) {
      log.warn({}, 'stopped at once');
      atOnce.abort();
    } else requested.abort();
  };
  const onHangUp = () => {
    isHangUpMissed = hangUpTask === undefined;
    hangUpTask?.();
  };
  const onException = (thrown: unknown) => {
    // A value that is not an Error may be a request with its token.
    const cause = thrown instanceof Error ? describeCause(thrown) : typeof thrown;
    log.error({ cause }, 'uncaught exception: ending with status 1');
    // The state of the process is unknown; acknowledged plants are on the disk.
    atOnce.abort();
  };
  const onIgnored = (signal: unknown) =>
    log.info({ signal }, 'a signal was ignored: SIGTERM stops the server');
  const listeners = new Map([
    ['SIGTERM', onStop],
    ['SIGINT', onStop],
    ['SIGHUP', onHangUp],
    // Node raises unhandled rejections as uncaught exceptions, too.
    ['uncaughtException', onException],
    ...ignoredSignals.map((signal) => [signal, onIgnored] as const),
  ]);
  for (const [name, listener] of listeners) process.on(name, listener);
  return {
    requested: requested.signal,
    atOnce,
    onHangUp(task) {
      hangUpTask = task;
      if (isHangUpMissed) task();
    },
    removeListeners() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}

/** Settles as the work, or rejects with the reason of the signal as soon as it aborts. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const settled = new AbortController();
  try {
    await Promise.race([work, once(signal, 'abort', settled)]);
    signal.throwIfAborted();
    return await work;
  } finally {
    settled.abort();
  }
}
