import { createHook } from 'node:async_hooks';

/** Counts the promises and timers that are created until the returned function is called. */
export const countResources = (): (() => Record<'promises' | 'timers', number>) => {
  const counts = { promises: 0, timers: 0 };
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') counts.promises += 1;
      if (type === 'Timeout') counts.timers += 1;
    },
  }).enable();
  return () => {
    hook.disable();
    return counts;
  };
};
