import { type Batch, columnNames, type Row, rowsOf } from './columns.ts';
import { findAlteration } from './database-file.ts';
import type { NotInserted } from './commit-thread.ts';
import type { OwnedDatabase } from './owned-database.ts';
import { isContentRefused } from './sqlite-failure.ts';

/**
 * Prepares a function that creates plants in the table of an open database: it inserts them in one transaction, and compares a
 * plant whose id exists with the stored one. On return, every plant that is not in the result, or is `unchanged`, is on the disk. It throws the
 * exceptions of node:sqlite. After an exception, or when another program has altered the table, the table is unchanged.
 */
export const prepareCreateAll = (
  database: OwnedDatabase,
): ((batch: Batch) => NotInserted | 'table-altered') => {
  // Node 22.18 binds no value to a numbered parameter.
  const parameters = columnNames.map(() => '?').join();
  const insertSql = `INSERT INTO plants (${columnNames.join()}) VALUES (${parameters}) ON CONFLICT DO NOTHING`;
  const insert = database.prepare(insertSql);
  // Since Node 26, `run` throws for a lastInsertRowid above 2^53 unless it may return a bigint.
  insert.setReadBigInts(true);
  const isSame = columnNames.map((name) => `${name} IS ?`).join(' AND ');
  const compare = database.prepare(`SELECT ${isSame} AS same FROM plants WHERE id = ?`);

  const readSchemaCookie = database.prepare('PRAGMA schema_version');
  const isAltered = (): boolean => {
    const cookie = Number(readSchemaCookie.get()?.['schema_version']);
    if (cookie === database.schemaCookie) return false;
    if (findAlteration(database) !== undefined) return true;
    // An index with an unknown function fails here, so that a later failure is one of a plant.
    database.prepare(insertSql);
    database.schemaCookie = cookie;
    return false;
  };

  /** Inserts a plant. Returns why it is not inserted, if it is not. */
  const insertPlant = (row: Row): 'unchanged' | 'id-taken' | Error | undefined => {
    let refusal: Error | undefined;
    try {
      if (Number(insert.run(...row).changes) === 1) return undefined;
    } catch (thrown) {
      // A constraint can roll back the transaction.
      if (!isContentRefused(thrown) || !database.isTransaction) throw thrown;
      refusal = thrown;
    }
    const stored = compare.get(...row, row[0]);
    if (stored === undefined) return refusal ?? new Error('a constraint ignored the plant');
    return stored['same'] === 1 ? 'unchanged' : 'id-taken';
  };

  return (batch) => {
    const notInserted = new Map<number, 'unchanged' | 'id-taken' | Error>();
    database.exec('BEGIN IMMEDIATE');
    try {
      if (isAltered()) return 'table-altered';
      for (const [index, row] of rowsOf(batch).entries()) {
        const reason = insertPlant(row);
        if (reason !== undefined) notInserted.set(index, reason);
      }
      database.exec('COMMIT');
      return notInserted;
    } finally {
      // Some failures have already rolled back (sqlite.org/lang_transaction.html §3.1).
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  };
};
