import type { Database } from './node-sqlite.ts';
import { walSize } from './wal-file.ts';

/** Size of the WAL file that starts a checkpoint, in bytes: small, so that a checkpoint takes milliseconds. */
export const walLimit = 8 * 2 ** 20;

/** Size of the WAL file that is reported first, in bytes. */
const firstReportSize = 64 * 2 ** 20;

/**
 * Replaces SQLite's automatic checkpoints, which report no failure.
 * `journal_size_limit` makes SQLite truncate the WAL file to the limit when it resets the file.
 */
export const createCheckpointer = (database: Database, path: string) => {
  database.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${walLimit}`);
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  let size = 0;
  let isHeld = false;
  let dueAt = walLimit;
  let reportAt = firstReportSize;
  return {
    /** Measures the WAL file. Returns its size when a reader prevented checkpoints for so long that it is due to be reported. */
    measure(): number | undefined {
      const before = size;
      size = walSize(path);
      if (size < before) [dueAt, reportAt] = [walLimit, firstReportSize];
      if (!isHeld || size < reportAt) return undefined;
      reportAt = 2 * size;
      return size;
    },
    /** Runs a checkpoint if the WAL file has grown enough since the last one. Throws the exceptions of node:sqlite. */
    checkpointIfDue(): void {
      if (size <= dueAt) return;
      // A reader can prevent a complete checkpoint: without a new threshold, each commit would try again.
      dueAt = size + walLimit;
      // The numbers of frames in the WAL file, and of those that are copied to the database file.
      const { log, checkpointed } = checkpoint.get() ?? {};
      isHeld = log !== checkpointed;
    },
  };
};
