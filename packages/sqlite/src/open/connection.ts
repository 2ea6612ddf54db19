import { fstatSync, statSync } from 'node:fs';
import type * as sqliteModule from 'node:sqlite';
import { getEnvironmentData, setEnvironmentData, workerData } from 'node:worker_threads';

/** One connection to a database file. It has no lock on the file before its first statement. */
export class Database {
  readonly #database: sqliteModule.DatabaseSync;
  readonly #end: () => void;

  /** @param isCounted whether other code of this process may open the file without SQLite */
  constructor(path: string, options: sqliteModule.DatabaseSyncOptions = {}, isCounted = true) {
    // Loaded here: Node 22 warns of it, which a program can switch off before.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    this.#database = new DatabaseSync(path, options);
    try {
      this.#end = isCounted ? countConnection(path) : () => {};
    } catch (thrown) {
      this.#database.close();
      throw thrown;
    }
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): sqliteModule.StatementSync {
    return this.#database.prepare(sql);
  }

  /** Returns the first value of the first row. */
  read(sql: string): sqliteModule.SQLOutputValue | undefined {
    return Object.values(this.prepare(sql).get() ?? {})[0];
  }

  close(): void {
    this.#database.close();
    this.#end();
  }
}

/** Counts a connection that was opened, before its first statement. Returns a function to call once it is closed. */
export function countConnection(path: string): () => void {
  const index = indexOf(path);
  change(index, (count) => count + 1);
  Atomics.add(held, 0, 1);
  return () => {
    Atomics.sub(counts, index, 1);
    Atomics.sub(held, 0, 1);
  };
}

/** Stops counting connections of a thread that was ended before it could close them. Node has closed them. */
export function forgetConnections(file: number, count: number): void {
  Atomics.sub(counts, indexOf(file), count);
}

/** Runs a task that closes a descriptor of a file, unless that would release a connection's locks. */
export function withoutConnections<T>(file: string | number, task: () => T): T | undefined {
  const index = indexOf(file);
  if (change(index, (count) => (count === 0 ? reading : count)) !== 0) return undefined;
  try {
    return task();
  } finally {
    Atomics.store(counts, index, 0);
    Atomics.notify(counts, index);
  }
}

const key = '@plantstore/sqlite connections';
const inherited: unknown = getEnvironmentData(key);

/** The number of open connections to the files of each remainder of inodes, in this thread and those that it starts; -1 while such a file is read. */
const counts =
  inherited instanceof Int32Array ? inherited : new Int32Array(new SharedArrayBuffer(4_096));
setEnvironmentData(key, counts);

const reading = -1;

const given: unknown = (workerData as { held?: unknown } | null)?.held;

/** What this commit thread has open, for the one that started it: the number of connections, then descriptors. */
export const held = given instanceof Int32Array ? given : new Int32Array(4);

/** Changes a count, once no such file is read. Returns the count before. */
function change(index: number, next: (count: number) => number): number {
  for (;;) {
    Atomics.wait(counts, index, reading);
    const before = Atomics.load(counts, index);
    if (before === reading) continue;
    if (Atomics.compareExchange(counts, index, before, next(before)) === before) return before;
  }
}

function indexOf(file: string | number): number {
  const options = { bigint: true } as const;
  const { ino } = typeof file === 'string' ? statSync(file, options) : fstatSync(file, options);
  // Some file systems use all 64 bits, of which Node makes a signed number.
  return Number(BigInt.asUintN(64, ino) % BigInt(counts.length));
}
