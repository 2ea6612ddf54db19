import { type Batch, rowsOf } from './batch.ts';
import { findAlteration } from './database-file.ts';
import type { OwnedDatabase } from './owned-database.ts';

/** Result of a batch: `taken` contains the indexes of the plants whose ids are taken. */
type CreatedAll =
  { readonly kind: 'created'; readonly taken: number[] } | { readonly kind: 'table-altered' };

/** The table of plants in an open database. */
export type PlantsTable = {
  /**
   * Inserts plants in one transaction, and compares a plant whose id exists with the stored one. On return, every
   * plant that is not in `taken` is on the disk. Throws the exceptions of node:sqlite. After an exception, or when
   * another program has altered the table, it is unchanged.
   */
  readonly createAll: (batch: Batch) => CreatedAll;
};

export const createPlantsTable = (database: OwnedDatabase): PlantsTable => {
  const insert = database.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  // Since Node 26, `run` throws for a lastInsertRowid above 2^53 unless it may return a bigint.
  insert.setReadBigInts(true);
  const findSame = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?');

  const readSchemaCookie = database.prepare('PRAGMA schema_version');
  const isAltered = (): boolean => {
    const cookie = Number(readSchemaCookie.get()?.['schema_version']);
    if (cookie === database.schemaCookie) return false;
    if (findAlteration(database) !== undefined) return true;
    database.schemaCookie = cookie;
    return false;
  };

  const isStored = (id: bigint, name: string, tag: string | null): boolean =>
    Number(insert.run(id, name, tag).changes) === 1 || findSame.get(id, name, tag) !== undefined;

  const insertEach = (batch: Batch): number[] => {
    const taken: number[] = [];
    for (const [index, row] of rowsOf(batch).entries()) {
      if (!isStored(...row)) taken.push(index);
    }
    return taken;
  };

  return {
    createAll(batch) {
      database.exec('BEGIN IMMEDIATE');
      try {
        if (isAltered()) return { kind: 'table-altered' };
        const taken = insertEach(batch);
        database.exec('COMMIT');
        return { kind: 'created', taken };
      } finally {
        // Some failures have already rolled back (sqlite.org/lang_transaction.html §3.1).
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    },
  };
};
