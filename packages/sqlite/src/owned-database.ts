import { Database } from './node-sqlite.ts';
import { lockTimeoutMs } from './owner-lock.ts';

/** The connection of the only owner of a file. Other programs can read the file. */
export class OwnedDatabase extends Database {
  readonly #file: string;
  readonly #ownerLock: { readonly close: () => void };
  readonly #openFiles: { readonly close: () => void }[] = [];
  /** The schema cookie (PRAGMA schema_version), read before the table was checked. */
  schemaCookie = 0;

  /**
   * @param file path of the file, with symbolic links resolved
   * @param ownerLock connection that holds the owner lock; closed last
   */
  constructor(file: string, ownerLock: { readonly close: () => void }) {
    super(file, { timeout: lockTimeoutMs });
    this.#file = file;
    this.#ownerLock = ownerLock;
  }

  /** Closes a descriptor or connection of the same file after this one: a POSIX close releases the locks of the process. */
  closeLater(opened: { readonly close: () => void }): void {
    this.#openFiles.push(opened);
  }

  /**
   * Makes `close` leave the WAL file as it is. SQLite runs a checkpoint when the last connection to a file is closed, but
   * a read-only one cannot write to the file.
   */
  keepWal(): void {
    try {
      const reader = new Database(this.#file, { readOnly: true });
      this.closeLater(reader);
      // From its first read on, the connection has a lock that prevents the checkpoint of the other one.
      reader.exec('SELECT count(*) FROM sqlite_schema');
    } catch {
      // Nothing else can prevent the checkpoint.
    }
  }

  override close(): void {
    super.close();
    for (const opened of this.#openFiles.splice(0)) opened.close();
    this.#ownerLock.close();
  }
}
