import type { Database } from '../open/connection.ts';
import { walSize } from '../open/wal.ts';

/** Size of the WAL file that starts a checkpoint, in bytes: small, to take milliseconds. */
export const walLimit = 8 * 2 ** 20;

/** Size of the WAL file that is reported first, in bytes. */
const firstReportSize = 64 * 2 ** 20;

/** A WAL file that a checkpoint cannot reset, because another program reads an older snapshot. */
export type HeldWal = {
  /** Path of the WAL file. */
  readonly wal: string;
  /** Size of the WAL file, in bytes. */
  readonly size: number;
};

/** Checkpoints of an open database, whose automatic ones are off. */
export class Checkpoints {
  readonly #file: string;
  readonly #checkpoint: ReturnType<Database['prepare']>;
  #size = 0;
  #isHeld = false;
  #dueAt = walLimit;
  #reportAt = firstReportSize;

  constructor(database: Database, file: string) {
    // `journal_size_limit` makes SQLite truncate the WAL file to the limit when it resets the file.
    database.exec(`PRAGMA journal_size_limit = ${walLimit}`);
    this.#file = file;
    this.#size = walSize(file) ?? 0;
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Measures the WAL file. Returns it when it is due to be reported as held by a reader. */
  measure(): HeldWal | undefined {
    const before = this.#size;
    // A size that cannot be read is no sample.
    this.#size = walSize(this.#file) ?? before;
    if (this.#size < before) [this.#dueAt, this.#reportAt] = [walLimit, firstReportSize];
    if (!this.#isHeld || this.#size < this.#reportAt) return undefined;
    this.#reportAt = 2 * this.#size;
    return { wal: `${this.#file}-wal`, size: this.#size };
  }

  /** Whether the WAL file is shorter than after the last commit. */
  isWalShorter(): boolean {
    return (walSize(this.#file) ?? this.#size) < this.#size;
  }

  /** Whether the WAL file has grown enough since the last checkpoint. */
  isDue(): boolean {
    return this.#size > this.#dueAt;
  }

  /** Runs a checkpoint. Throws the exceptions of node:sqlite. */
  run(): void {
    // The numbers of frames in the WAL file, and of those that are copied to the file.
    const { log, checkpointed } = this.#checkpoint.get() ?? {};
    this.#isHeld = log !== checkpointed;
    // A reader prevents a complete checkpoint: each commit would try again. After a complete one,
    // SQLite begins the file again, and truncates it to the limit.
    this.#dueAt = this.#isHeld ? this.#size + walLimit : walLimit;
  }
}
