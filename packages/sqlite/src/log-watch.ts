import { logSize } from './log-file.ts';
import type { Database } from './node-sqlite.ts';

/** Size of the log from which on it is moved into the file, in bytes: few pages, so that commits wait for milliseconds. */
export const logLimit = 4 * 2 ** 20;

/** Size of the log at which it is first reported that another program holds it, in bytes. */
const reportedSize = 64 * 2 ** 20;

/** Keeps the log of an open database short. */
export type LogWatch = {
  /** Measures the log. Returns its size where another program has kept it from being emptied for long. */
  readonly measure: () => number | undefined;
  /** Moves the log into the file, if it has grown enough since the last time. Throws what node:sqlite throws. */
  readonly checkpointIfDue: () => void;
};

/**
 * SQLite's own automatic checkpoints would report no failure.
 * `journal_size_limit` makes SQLite cut the log to the limit when it begins anew.
 */
export const watchLog = (database: Database, path: string): LogWatch => {
  database.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${logLimit}`);
  let size = 0;
  let dueAt = logLimit;
  let reportAt = reportedSize;
  return {
    measure() {
      const before = size;
      size = logSize(path);
      if (size < before) [dueAt, reportAt] = [logLimit, reportedSize];
      if (size < reportAt) return undefined;
      reportAt = 2 * size;
      return size;
    },
    checkpointIfDue() {
      if (size <= dueAt) return;
      // What is still read stays in the log, which grows meanwhile: not at every commit again.
      dueAt = size + logLimit;
      database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    },
  };
};
