import type { EventEmitter } from 'node:events';
import { ignoredSignals } from './ignored-signals.ts';

/** What the process is asked from outside. */
export type Signals = {
  /** Resolves at the first SIGTERM or SIGINT: a graceful stop. */
  readonly stop: Promise<'stop'>;
  /** Resolves at the second: an end at once. */
  readonly stopAtOnce: Promise<'at once'>;
  /** Resolves at an uncaught exception: the state of the process is unknown. */
  readonly crash: Promise<'crash'>;
  /**
   * Sets what is done at SIGHUP, and does it now if one came before; `undefined` does nothing.
   * A SIGHUP never ends the process.
   */
  readonly onHangUp: (task: (() => void) | undefined) => void;
  /** Removes the listeners. */
  readonly forget: () => void;
};

/** Listens for what `process` emits. */
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
    // Of unhandled rejections, too: Node makes exceptions of them.
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
      if (isHangUpMissed) task?.();
      isHangUpMissed = false;
    },
    forget() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
};
