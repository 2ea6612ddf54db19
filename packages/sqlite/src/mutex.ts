/** Returns a function that runs one task at a time, in call order. A task that rejects does not stop later tasks. */
export const createMutex = (): (<T>(task: () => Promise<T>) => Promise<T>) => {
  let last: Promise<unknown> = Promise.resolve();
  return async (task) => {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  };
};
