import type { EventEmitter } from 'node:events';
import { ignoredSignals } from './ignored-signals.ts';

/** Signals and uncaught exceptions of the process. */
export type Signals = {
  /** Resolves at the first SIGTERM or SIGINT, for a graceful stop. */
  readonly stop: Promise<'stop'>;
  /** Resolves at the second SIGTERM or SIGINT, for an immediate exit. */
  readonly stopAtOnce: Promise<'at once'>;
  /** Resolves at an uncaught exception: the state of the process is unknown. */
  readonly crash: Promise<'crash'>;
  /** Sets the task to run at SIGHUP, and runs it now if a SIGHUP came before. A SIGHUP never ends the process. */
  readonly onHangUp: (task: () => void) => void;
  /** Removes the listeners. */
  readonly removeListeners: () => void;
};

/** Adds listeners for signals and uncaught exceptions of `process`. */
export const listenForSignals = (
  process: EventEmitter,
  onCrash: (thrown: unknown) => void,
  onIgnored: (signal: string) => void,
): Signals => {
  const stop = Promise.withResolvers<'stop'>();
  const stopAtOnce = Promise.withResolvers<'at once'>();
  const crash = Promise.withResolvers<'crash'>();
  let isStopping = false;
  let hangUpTask: (() => void) | undefined;
  let isHangUpMissed = false;

  const onStop = () => {
    if (isStopping) stopAtOnce.resolve('at once');
    isStopping = true;
    stop.resolve('stop');
  };
  const onHangUp = () => {
    isHangUpMissed = hangUpTask === undefined;
    hangUpTask?.();
  };
  const onException = (thrown: unknown) => {
    onCrash(thrown);
    crash.resolve('crash');
  };
  const listeners: readonly (readonly [string, (thrown: unknown) => void])[] = [
    ['SIGTERM', onStop],
    ['SIGINT', onStop],
    ['SIGHUP', onHangUp],
    // Node raises unhandled rejections as uncaught exceptions, too.
    ['uncaughtException', onException],
    ...ignoredSignals.map((signal) => [signal, () => onIgnored(signal)] as const),
  ];
  for (const [name, listener] of listeners) process.on(name, listener);
  return {
    stop: stop.promise,
    stopAtOnce: stopAtOnce.promise,
    crash: crash.promise,
    onHangUp(task) {
      hangUpTask = task;
      if (isHangUpMissed) task();
    },
    removeListeners() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
};
