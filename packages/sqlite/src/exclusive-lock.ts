import type { Database } from './node-sqlite.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/**
 * Runs a task with an exclusive lock on the file, if no other connection has it open. The task may open the
 * file, but not close it: that would release the locks. Returns the SQLITE_BUSY exception if it did not run the task.
 */
export const withExclusiveLock = (database: Database, task: () => void): Error | undefined => {
  // In exclusive locking mode, the lock is kept after the transaction.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  try {
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (cause) {
      if (!(cause instanceof Error) || sqliteFailureOf(cause) !== 'locked') throw cause;
      return cause;
    }
    database.exec('ROLLBACK');
    task();
    return undefined;
  } finally {
    database.exec('PRAGMA locking_mode = NORMAL');
    // The next read returns the connection to a shared lock.
    database.exec('SELECT count(*) FROM sqlite_schema');
  }
};
