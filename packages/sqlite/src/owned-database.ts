import { statSync } from 'node:fs';
import { logSize } from './log-file.ts';
import { Database } from './node-sqlite.ts';
import { openRewriter, type Rewriter } from './rewriter.ts';

/** A connection that has the lock on its file. */
export class OwnedDatabase extends Database {
  readonly #file: string;
  #rewriter: Rewriter | undefined;

  /** @param file the path of the file, without links */
  constructor(file: string) {
    super(file);
    this.#file = file;
  }

  /**
   * Writes again the pages by which moving the log into the file may have made it longer. Without it, an attempt
   * that follows a failed one would succeed without writing them, and remove the log.
   */
  rewriteTail(): void {
    const log = logSize(this.#file);
    if (log === 0) return;
    this.#rewriter ??= openRewriter(this.#file);
    this.#rewriter.rewrite(Math.max(0, statSync(this.#file).size - log));
  }

  override close(): void {
    super.close();
    // Not earlier: closing a file gives up the locks that its process has on it.
    this.#rewriter?.close();
  }
}
