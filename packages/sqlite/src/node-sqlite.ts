import type * as sqliteModule from 'node:sqlite';
import { countConnection } from './connections.ts';

// Suppresses the ExperimentalWarning of Node 22. Remove when Node 22 is no longer supported.
// oxlint-disable-next-line typescript/unbound-method -- it is only restored
const { emitWarning } = process;
process.emitWarning = () => {};
const sqlite = process.getBuiltinModule('node:sqlite');
process.emitWarning = emitWarning;

/** A connection that is not counted. */
export const { DatabaseSync } = sqlite;

/** One connection to a database file. It has no lock on the file before its first statement. */
export class Database extends DatabaseSync {
  readonly #end: () => void;

  constructor(path: string, options: sqliteModule.DatabaseSyncOptions = {}) {
    super(path, options);
    try {
      this.#end = countConnection(path);
    } catch (thrown) {
      super.close();
      throw thrown;
    }
  }

  override close(): void {
    super.close();
    this.#end();
  }
}
