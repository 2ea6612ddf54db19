import type { Database } from './node-sqlite.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/** Whether a task was run; `cause` is the "database is locked" of SQLite. */
export type Alone = { readonly kind: 'done' } | { readonly kind: 'busy'; readonly cause: unknown };

/**
 * Runs a task while no other connection can use the file. Runs nothing where another one has it open.
 * The task may open and close the file: the connection takes its shared lock again afterwards.
 */
export const whileAlone = (database: Database, task: () => void): Alone => {
  // The lock outlives the transaction.
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
    // Only the next read changes the lock.
    database.exec('SELECT count(*) FROM sqlite_schema');
  }
};
