/** Waits for a promise, and throws after a timeout. A rejection after the timeout is ignored. */
export async function throwAfterTimeout<T>(timeoutMs: number, work: Promise<T>, what?: string) {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(noResponseWithin(timeoutMs, what)));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the message of a timeout. */
export function noResponseWithin(timeoutMs: number, what = 'no response'): string {
  return `${what} within ${Math.round(timeoutMs)} ms`;
}
