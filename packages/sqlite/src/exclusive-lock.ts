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
    database.exec('BEGIN EXCLUSIVE');
    database.exec('ROLLBACK');
    task();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof Error) || sqliteFailureOf(thrown) !== 'locked') throw thrown;
    return thrown;
  } finally {
    database.exec('PRAGMA locking_mode = NORMAL');
    // The next read returns the connection to a shared lock.
    database.exec('SELECT count(*) FROM sqlite_schema');
  }
};
