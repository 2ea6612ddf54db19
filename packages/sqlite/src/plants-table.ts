import { type Batch, rowsOf } from './batch.ts';
import type { OwnedDatabase } from './owned-database.ts';

/** What became of a batch: `taken` has the indexes of the plants whose ids are taken. */
type CreatedAll =
  { readonly kind: 'created'; readonly taken: number[] } | { readonly kind: 'table-altered' };

/** The table of plants in an open database. */
export type PlantsTable = {
  /**
   * Inserts plants, or compares them with those that are there, in one transaction. When it returns,
   * they are on the disk, except those whose ids are taken. Changes nothing where another program has
   * altered the schema, nor where it throws what node:sqlite throws.
   */
  readonly createAll: (batch: Batch) => CreatedAll;
};

export const createPlantsTable = (database: OwnedDatabase): PlantsTable => {
  const insert = database.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  // From Node 26 on, an id beyond 2^53 throws as the last row's unless it may be a bigint.
  insert.setReadBigInts(true);
  const findSame = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?');

  const readCookie = database.prepare('PRAGMA schema_version');
  const isAltered = (): boolean => readCookie.get()?.['schema_version'] !== database.schemaCookie;

  const isKept = (id: bigint, name: string, tag: string | null): boolean =>
    Number(insert.run(id, name, tag).changes) === 1 || findSame.get(id, name, tag) !== undefined;

  const createEach = (batch: Batch): number[] => {
    const taken: number[] = [];
    for (const [index, row] of rowsOf(batch).entries()) {
      if (!isKept(...row)) taken.push(index);
    }
    return taken;
  };

  return {
    createAll(batch) {
      database.exec('BEGIN IMMEDIATE');
      try {
        if (isAltered()) {
          database.exec('ROLLBACK');
          return { kind: 'table-altered' };
        }
        const taken = createEach(batch);
        database.exec('COMMIT');
        return { kind: 'created', taken };
      } catch (thrown) {
        // Some failures have already rolled back (sqlite.org/lang_transaction.html §3.1).
        if (database.isTransaction) database.exec('ROLLBACK');
        throw thrown;
      }
    },
  };
};
