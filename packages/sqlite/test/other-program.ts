import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeAll, onTestFinished } from 'vitest';

/** A connection of another process to a database. */
export type OtherConnection = {
  /** Runs a statement, and returns its rows or SQLite's error message. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

const program = [
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('run-sql-lines.ts', import.meta.url)),
];

/** Starts another process before the tests of a file, and returns a function that connects it to a database for a test. */
export function otherProgram(): (path: string) => OtherConnection {
  let child: ChildProcessByStdio<Writable, Readable, null>;
  let replies: AsyncIterator<string>;
  let connections = 0;
  beforeAll(() => {
    child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] });
    replies = createInterface(child.stdout)[Symbol.asyncIterator]();
    return async () => {
      child.stdin.end();
      await once(child, 'exit');
    };
  });
  const request = async (...message: readonly unknown[]): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return JSON.parse(String((await replies.next()).value)) as unknown;
  };
  return (path) => {
    const connection = (connections += 1);
    const close = async () => void (await request(connection, path, 'close'));
    onTestFinished(close);
    return { run: async (sql) => request(connection, path, sql), close };
  };
}

/** Runs a statement in a process of its own, while this one waits, and returns its rows or SQLite's error message. */
export function runInOtherProgram(path: string, sql: string): unknown {
  const input = JSON.stringify([1, path, sql]);
  return JSON.parse(execFileSync(process.execPath, program, { input, encoding: 'utf8' }));
}
