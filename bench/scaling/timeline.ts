/** A clock that is moved from event to event, in microseconds. */
export type Timeline = {
  readonly now: () => number;
  readonly after: (delay: number, happen: () => void) => void;
  readonly next: () => void;
};

type Event = { readonly at: number; readonly happen: () => void };

/** Of two events at one time, the one that was planned first comes first. */
export const createTimeline = (): Timeline => {
  const events: Event[] = [];
  let now = 0;
  return {
    now: () => now,
    after: (delay, happen) => {
      const event = { at: now + delay, happen };
      const place = events.findIndex(({ at }) => at > event.at);
      events.splice(place === -1 ? events.length : place, 0, event);
    },
    next: () => {
      const event = events.shift();
      if (event === undefined) throw new Error('nothing is going to happen any more');
      now = event.at;
      event.happen();
    },
  };
};

/** Runs work on the first core that is free, and then tells that it is done. */
export type Cores = (work: number, done: () => void) => void;

/** So many cores; who waits longest has the next. */
export const createCores = ({ after }: Timeline, count: number): Cores => {
  const waiting: (() => void)[] = [];
  let free = count;
  return (work, done) => {
    const begin = () => {
      free -= 1;
      after(work, () => {
        free += 1;
        done();
        if (free > 0) waiting.shift()?.();
      });
    };
    // Not past those who wait already.
    if (free > 0 && waiting.length === 0) begin();
    else waiting.push(begin);
  };
};

/** Takes work, whose cost is known when it begins. */
export type Thread = (cost: () => number, done: () => void) => void;

/** Does one thing after another, each on whatever core is free; it costs to be woken. */
export const createThread = (onCore: Cores, wakeUp: number): Thread => {
  const work: { readonly cost: () => number; readonly done: () => void }[] = [];
  let isAwake = false;
  const goOn = () => {
    const next = work.shift();
    if (next === undefined) {
      isAwake = false;
      return;
    }
    onCore(next.cost(), () => {
      next.done();
      goOn();
    });
  };
  return (cost, done) => {
    work.push({ cost, done });
    if (isAwake) return;
    isAwake = true;
    onCore(wakeUp, goOn);
  };
};
