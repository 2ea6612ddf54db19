/**
 * What work comes to, or `undefined` where it takes longer than it may; the work goes on, and what
 * it comes to then is dropped.
 */
export const withDeadline = async <T>(
  work: PromiseLike<T>,
  deadlineMs: number,
): Promise<T | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, deadlineMs, undefined);
    const settled = () => {
      clearTimeout(timer);
      resolve(work);
    };
    work.then(settled, settled);
  });
