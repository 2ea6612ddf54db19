import { Database } from './node-sqlite.ts';

/** The connection of the one owner of a file. Other programs may have the file open, too. */
export class OwnedDatabase extends Database {
  readonly #guard: Database;
  /** Changes with every change of the schema (PRAGMA schema_version). As it was before the table was checked. */
  schemaCookie = 0;

  /**
   * @param file the path of the file, without links
   * @param guard closed after the connection
   */
  constructor(file: string, guard: Database) {
    super(file);
    this.#guard = guard;
  }

  override close(): void {
    super.close();
    this.#guard.close();
  }
}
