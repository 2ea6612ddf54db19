import type { Worker, WorkerOptions } from 'node:worker_threads';
import { err, ok, type Result } from 'neverthrow';
import { openError, type OpenSqliteError } from './errors.ts';

/** Starts a thread without what NODE_OPTIONS preloads, which could keep it alive. */
export function startWorker(
  path: string,
  options: WorkerOptions,
  start: (options: WorkerOptions) => Worker,
): Result<Worker, OpenSqliteError> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  try {
    process.cwd(); // Throws if it was removed, where a thread ends.
    // Node 22 warns of node:sqlite. A descriptor that must not be closed stays open after the thread.
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    return ok(start({ ...options, env, execArgv, trackUnmanagedFds: false }));
  } catch (cause) {
    return err(openError(path, { kind: 'no-thread', cause }));
  }
}
