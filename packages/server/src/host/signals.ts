import type { EventEmitter } from 'node:events';
import { ignoredSignals } from './ignored-signals.ts';

/** What the process is asked from outside. */
export type Signals = {
  /** Comes with the first SIGTERM or SIGINT: a graceful stop. */
  readonly stop: Promise<'stop'>;
  /** Comes with the second: an end at once. */
  readonly stopAtOnce: Promise<'at once'>;
  /** Comes with what nobody caught: nobody knows the state of the process any more. */
  readonly crash: Promise<'crash'>;
  /**
   * Says what is to be done at SIGHUP, and does it now where one came before; `undefined` does
   * nothing. A SIGHUP never ends the process.
   */
  readonly onHangUp: (task: (() => void) | undefined) => void;
  readonly forget: () => void;
};

const listenForStop = () => {
  const first = Promise.withResolvers<'stop'>();
  const second = Promise.withResolvers<'at once'>();
  let count = 0;
  const listener = () => {
    count += 1;
    if (count === 1) first.resolve('stop');
    else second.resolve('at once');
  };
  return { listener, stop: first.promise, stopAtOnce: second.promise };
};

const listenForHangUp = () => {
  let task: (() => void) | undefined;
  let isMissed = false;
  const listener = () => {
    if (task === undefined) isMissed = true;
    else task();
  };
  const onHangUp: Signals['onHangUp'] = (next) => {
    task = next;
    if (isMissed) task?.();
    isMissed = false;
  };
  return { listener, onHangUp };
};

/** Listens for what `process` emits, until it is told to forget it. */
export const listenForSignals = (
  process: EventEmitter,
  onCrash: (thrown: unknown) => void,
  onIgnored: (signal: string) => void,
): Signals => {
  const { listener: onStop, stop, stopAtOnce } = listenForStop();
  const { listener: onHangUpSignal, onHangUp } = listenForHangUp();
  const crash = Promise.withResolvers<'crash'>();
  const listeners: Readonly<Record<string, (...args: unknown[]) => void>> = {
    SIGTERM: onStop,
    SIGINT: onStop,
    SIGHUP: onHangUpSignal,
    ...Object.fromEntries(ignoredSignals.map((signal) => [signal, () => onIgnored(signal)])),
    // Unhandled rejections, too: Node makes such exceptions of them.
    uncaughtException: (thrown) => {
      onCrash(thrown);
      crash.resolve('crash');
    },
  };
  for (const [name, listener] of Object.entries(listeners)) process.on(name, listener);
  return {
    stop,
    stopAtOnce,
    crash: crash.promise,
    onHangUp,
    forget() {
      for (const [name, listener] of Object.entries(listeners)) process.off(name, listener);
    },
  };
};
