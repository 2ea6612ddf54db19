/** Waits for work, but not longer than so many milliseconds; then it throws. */
export const within = async <T>(timeoutMs: number, work: Promise<T>): Promise<T> => {
  // Nobody waits any more for what it comes to after the time is up.
  work.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${Math.round(timeoutMs)} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
};
