/** Waits for a promise, and throws after a timeout. A rejection after the timeout is ignored. */
export const throwAfterTimeout = async <T>(timeoutMs: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(noResponseWithin(timeoutMs)));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

/** Returns the message of a timeout. */
export const noResponseWithin = (timeoutMs: number): string =>
  `no response within ${Math.round(timeoutMs)} ms`;
