import { type Batch, columnNames, type Row, rowsOf } from './columns.ts';
import { resultCodeOf } from './errors.ts';
import { findAlteration, schemaVersion } from './table.ts';
import type { OwnedDatabase } from './owned-database.ts';

/** Why plants are not inserted, by their indexes: SQLite's exception if it refuses the content. */
export type NotInserted = ReadonlyMap<number, 'unchanged' | 'id-taken' | Error>;

/** The statements that create plants in the table of an open database. */
export class Statements {
  readonly #database: OwnedDatabase;
  readonly #insert: ReturnType<OwnedDatabase['prepare']>;
  readonly #compare: ReturnType<OwnedDatabase['prepare']>;
  readonly #readSchemaCookie: ReturnType<OwnedDatabase['prepare']>;

  constructor(database: OwnedDatabase) {
    this.#database = database;
    this.#insert = database.prepare(insertSql);
    // Since Node 26, `run` throws for a lastInsertRowid above 2^53 unless it may return a bigint.
    this.#insert.setReadBigInts(true);
    this.#compare = database.prepare(`SELECT ${isSame} AS same FROM plants WHERE id = ?`);
    this.#readSchemaCookie = database.prepare('PRAGMA schema_version');
  }

  /**
   * Inserts plants in one transaction, and compares a plant whose id exists with the stored one. An
   * empty batch fails where a create would fail: in a file that cannot be written to, on a full
   * disk. On return, every plant that is `unchanged` or not in the result is on the disk; none is
   * after an exception, or if the table was altered (`undefined`).
   */
  createAll(batch: Batch): NotInserted | undefined {
    const notInserted = new Map<number, 'unchanged' | 'id-taken' | Error>();
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      if (this.#isAltered()) return undefined;
      // Writes the header again, as a create writes a row.
      if (batch[0].length === 0) this.#database.exec(writeHeader);
      for (const [index, row] of rowsOf(batch).entries()) {
        const reason = this.#create(row);
        if (reason !== undefined) notInserted.set(index, reason);
      }
      this.#database.exec('COMMIT');
      return notInserted;
    } finally {
      // Some failures have already rolled back (sqlite.org/lang_transaction.html §3.1).
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }

  #isAltered(): boolean {
    const cookie = this.#readSchemaCookie.get()?.['schema_version'];
    if (cookie === this.#database.schemaCookie) return false;
    if (findAlteration(this.#database) !== undefined) return true;
    // An index with an unknown function fails here, so that a later failure is one of a plant.
    this.#database.prepare(insertSql);
    this.#database.schemaCookie = cookie;
    return false;
  }

  /** Inserts a plant. Returns why it is not inserted, if it is not. */
  #create(row: Row): 'unchanged' | 'id-taken' | Error | undefined {
    let refusal: Error | undefined;
    try {
      if (Number(this.#insert.run(...row).changes) === 1) return undefined;
    } catch (thrown) {
      // A constraint can roll back the transaction.
      const isOfContent = contentCodes.includes((resultCodeOf(thrown) ?? 0) & 0xff);
      if (!isOfContent || !this.#database.isTransaction) throw thrown;
      refusal = thrown as Error;
    }
    const stored = this.#compare.get(...row, row[0]);
    if (stored === undefined) return refusal ?? new Error('a constraint ignored the plant');
    return stored['same'] === 1 ? 'unchanged' : 'id-taken';
  }
}

const writeHeader = `PRAGMA user_version = ${schemaVersion}`;
// Node 22.18 binds no value to a numbered parameter.
const parameters = columnNames.map(() => '?').join();
const insertSql = `INSERT INTO plants (${columnNames.join()}) VALUES (${parameters})
  ON CONFLICT DO NOTHING`;
const isSame = columnNames.map((name) => `${name} IS ?`).join(' AND ');

/** `SQLITE_ERROR` of an expression, `TOOBIG` and `CONSTRAINT`: an insert fails for its values. */
const contentCodes = [1, 18, 19];
