import type { Database } from './node-sqlite.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/** Whether the task ran; `cause` is the SQLITE_BUSY exception. */
export type ExclusiveRun =
  { readonly kind: 'done' } | { readonly kind: 'busy'; readonly cause: unknown };

/**
 * Runs a task with an exclusive lock on the file, if no other connection has it open. The task may open the
 * file, but not close it: that would release the locks.
 */
export const withExclusiveLock = (database: Database, task: () => void): ExclusiveRun => {
  // In exclusive locking mode, the lock is kept after the transaction.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  try {
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (cause) {
      if (sqliteFailureOf(cause) !== 'locked') throw cause;
      return { kind: 'busy', cause };
    }
    database.exec('ROLLBACK');
    task();
    return { kind: 'done' };
  } finally {
    database.exec('PRAGMA locking_mode = NORMAL');
    // The next read returns the connection to a shared lock.
    database.exec('SELECT count(*) FROM sqlite_schema');
  }
};
