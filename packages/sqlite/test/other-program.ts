import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

/** Opens a database until the end of a test as another program does: with a connection of its own. */
export function connectOther(path: string) {
  const database = new DatabaseSync(path);
  const close = (): void => {
    if (database.isOpen) database.close();
  };
  onTestFinished(close);
  /** Runs a statement, and returns its rows or SQLite's error message. */
  const run = (sql: string): unknown => {
    try {
      return database.prepare(sql).all();
    } catch (thrown) {
      return (thrown as Error).message;
    }
  };
  return { run, close };
}

/** Runs a statement in another process, and returns its rows or SQLite's error message. */
export function runInOtherProgram(path: string, sql: string): unknown {
  const program = fileURLToPath(new URL('run-sql.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, path, sql];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}
