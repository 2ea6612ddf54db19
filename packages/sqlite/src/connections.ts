import { statSync } from 'node:fs';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const key = '@plantstore/sqlite connections';
const inherited: unknown = getEnvironmentData(key);

/** The number of open connections to the files of each remainder of inodes, in this thread and those that it starts; -1 while such a file is read. */
const counts =
  inherited instanceof Int32Array ? inherited : new Int32Array(new SharedArrayBuffer(4_096));
setEnvironmentData(key, counts);

const reading = -1;

const indexOf = (path: string): number =>
  // Some file systems use all 64 bits, of which Node makes a signed number.
  Number(BigInt.asUintN(64, statSync(path, { bigint: true }).ino) % BigInt(counts.length));

/** Counts a connection that was opened, before its first statement. Returns a function to call once it is closed. */
export const countConnection = (path: string): (() => void) => {
  const index = indexOf(path);
  let before = Atomics.load(counts, index);
  while (
    before === reading ||
    Atomics.compareExchange(counts, index, before, before + 1) !== before
  ) {
    Atomics.wait(counts, index, reading);
    before = Atomics.load(counts, index);
  }
  return () => void Atomics.sub(counts, index, 1);
};

/**
 * Runs a task that opens and closes a file without SQLite, unless this process has a connection to the file: closing a
 * descriptor releases all POSIX locks of the process on its file (sqlite.org/howtocorrupt.html §2.2).
 */
export const withoutConnections = <T>(path: string, task: () => T): T | undefined => {
  const index = indexOf(path);
  let before = Atomics.compareExchange(counts, index, 0, reading);
  for (; before === reading; before = Atomics.compareExchange(counts, index, 0, reading))
    Atomics.wait(counts, index, reading);
  if (before !== 0) return undefined;
  try {
    return task();
  } finally {
    Atomics.store(counts, index, 0);
    Atomics.notify(counts, index);
  }
};
