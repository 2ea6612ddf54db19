import type * as sqliteModule from 'node:sqlite';

/** One connection to a database file. It has no lock on the file before its first statement. */
export class Database {
  readonly #database: sqliteModule.DatabaseSync;

  constructor(path: string, options: sqliteModule.DatabaseSyncOptions = {}) {
    // Loaded here: Node 22 warns of it, which a program can switch off before.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    this.#database = new DatabaseSync(path, options);
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
  }
}
