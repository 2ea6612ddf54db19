import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Another process that has the database open. */
export type OtherProgram = {
  /** Runs a statement, and returns its rows or SQLite's error message. */
  readonly run: (sql: string) => Promise<unknown>;
  readonly end: () => Promise<void>;
};

const argumentsFor = (path: string) => [
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('run-sql-lines.ts', import.meta.url)),
  path,
];

/** Runs a statement in another program, and returns its rows or SQLite's message. */
export const runInOtherProgram = (path: string, sql: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, argumentsFor(path), { input: `${sql}\n`, encoding: 'utf8' }),
  );

export const startOtherProgram = (path: string): OtherProgram => {
  const child = spawn(process.execPath, argumentsFor(path), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async run(sql) {
      child.stdin.write(`${sql}\n`);
      const { value } = await lines.next();
      return JSON.parse(String(value)) as unknown;
    },
    async end() {
      child.stdin.end();
      await exited;
    },
  };
};
