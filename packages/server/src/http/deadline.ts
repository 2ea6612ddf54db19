/**
 * What work comes to, or `undefined` where it takes longer than it may; the work goes on, and what
 * it comes to then is dropped.
 */
export type Deadline = <T>(work: PromiseLike<T>) => Promise<T | undefined>;

/**
 * Gives all work the same time. It ends in the order in which it began, so one timer for the oldest
 * is enough: a timer each would take a sixteenth of the time that a request takes.
 */
export const createDeadline = (deadlineMs: number): Deadline => {
  /** What gives up, and when, on the clock of `performance.now()`. */
  const pending = new Map<() => void, number>();
  let timer: NodeJS.Timeout | undefined;

  const giveUpTheLate = () => {
    timer = undefined;
    for (const [giveUp, at] of pending) {
      const left = at - performance.now();
      if (left > 0) {
        timer = setTimeout(giveUpTheLate, left);
        return;
      }
      pending.delete(giveUp);
      giveUp();
    }
  };

  const begin = (giveUp: () => void) => {
    pending.set(giveUp, performance.now() + deadlineMs);
    timer ??= setTimeout(giveUpTheLate, deadlineMs);
    timer.ref();
  };

  const end = (giveUp: () => void) => {
    pending.delete(giveUp);
    // What waits for nothing keeps no process alive.
    if (pending.size === 0) timer?.unref();
  };

  return async <T>(work: PromiseLike<T>) =>
    new Promise<T | undefined>((resolve) => {
      const giveUp = () => resolve(undefined);
      const settle = () => {
        end(giveUp);
        resolve(work);
      };
      begin(giveUp);
      work.then(settle, settle);
    });
};

/** Gives one piece of work so much time. */
export const withDeadline = async <T>(
  work: PromiseLike<T>,
  deadlineMs: number,
): Promise<T | undefined> => createDeadline(deadlineMs)(work);
