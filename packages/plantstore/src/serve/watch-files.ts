import { unwatchFile, watchFile } from 'node:fs';
import type { Result } from 'neverthrow';

/**
 * Renews what is read from files whenever one of them changes, also behind a link, until the signal
 * aborts. If that fails, it is repeated after each interval: a limit of open files, for example,
 * changes without them. A fault is reported once, until it is another one.
 *
 * @returns a function that renews it now, and reports a fault in any case
 */
export function watchFiles(
  paths: readonly (string | undefined)[],
  { renew, onFault, signal, intervalMs }: WatchOptions,
): () => void {
  const named = paths.filter((path) => path !== undefined);
  let last = Promise.resolve();
  let fault: string | undefined;
  let repetition: NodeJS.Timeout | undefined;
  try {
    for (const path of named)
      watchFile(path, { interval: intervalMs, persistent: false }, renewInTurn);
  } catch {
    // Node runs with --permission: reading the file says so.
  }
  signal.addEventListener('abort', () => {
    clearTimeout(repetition);
    for (const path of named) unwatchFile(path, renewInTurn);
  });
  return () => {
    if (named.length === 0) return;
    fault = undefined;
    renewInTurn();
  };

  function renewInTurn(): void {
    last = last.then(renewNow);
  }

  async function renewNow(): Promise<void> {
    clearTimeout(repetition);
    const renewed = await renew();
    const found = renewed.isErr() ? renewed.error : undefined;
    if (found !== undefined && found !== fault) onFault(found);
    fault = found;
    if (found !== undefined && !signal.aborted)
      repetition = setTimeout(renewInTurn, intervalMs).unref();
  }
}

export type WatchOptions = {
  /** Reads the files and uses what they contain. The error is why it cannot. */
  readonly renew: () => Promise<Result<void, string>>;
  readonly onFault: (reason: string) => void;
  readonly signal: AbortSignal;
  readonly intervalMs: number;
};
