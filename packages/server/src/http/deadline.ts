/**
 * What work comes to, or `late` where it takes longer than it may; the work goes on, and what it
 * comes to then is dropped.
 */
export const withDeadline = async <T>(
  work: PromiseLike<T>,
  deadlineMs: number,
  late: () => T,
): Promise<T> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(late()), deadlineMs);
    const settled = () => {
      clearTimeout(timer);
      resolve(work);
    };
    work.then(settled, settled);
  });
