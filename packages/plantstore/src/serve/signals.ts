import type { EventEmitter } from 'node:events';
import { describeCause, type Logger } from '@plantstore/server';
import { ignoredSignals } from './ignored-signals.ts';

/** Adds listeners for the signals and uncaught exceptions of a process, which log what they do. */
export function listenForSignals(
  process: EventEmitter,
  log: Logger,
  { stop, atOnce, reread }: SignalTargets,
): void {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, onStop);
  process.on('SIGHUP', reread);
  // Node raises unhandled rejections as uncaught exceptions, too.
  process.on('uncaughtException', onException);
  for (const signal of ignoredSignals) process.on(signal, onIgnored);

  function onStop(): void {
    if (!stop.signal.aborted) return stop.abort();
    log.warn({}, 'stopped at once');
    atOnce.abort();
  }

  function onException(thrown: unknown): void {
    // A value that is not an Error may be a request with its token.
    const cause = thrown instanceof Error ? describeCause(thrown) : typeof thrown;
    log.error({ cause }, 'uncaught exception: ending with status 1');
    // The state of the process is unknown; acknowledged plants are on the disk.
    atOnce.abort();
  }

  function onIgnored(signal: unknown): void {
    log.info({ signal }, 'a signal was ignored: SIGTERM stops the server');
  }
}

/** What signals do to a program. */
export type SignalTargets = {
  /** Aborts at the first SIGTERM or SIGINT. */
  readonly stop: AbortController;
  /** Aborts at the second one, and at an uncaught exception. */
  readonly atOnce: AbortController;
  /** Called at SIGHUP, which never ends the process. */
  readonly reread: () => void;
};
