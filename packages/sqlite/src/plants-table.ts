import type { NewPlant } from '@plantstore/core';
import type { Database } from './node-sqlite.ts';

/** What became of a plant: it is in the table, or another plant has its id. */
export type Outcome = 'kept' | 'id-taken';

/** The table of plants in an open database. */
export type PlantsTable = {
  /**
   * Inserts plants, or compares them with those that are there, in one transaction; when it
   * returns they are on the disk. Throws what node:sqlite throws, and then nothing has changed.
   */
  readonly createAll: (plants: readonly NewPlant[]) => Outcome[];
};

export const createPlantsTable = (database: Database): PlantsTable => {
  const insert = database.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  // From Node 26 on, an id beyond 2^53 throws as the last row's unless it may be a bigint.
  insert.setReadBigInts(true);
  const findSame = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?');

  const create = ({ id, name, tag = null }: { id: bigint; name: string; tag?: string | null }) => {
    if (Number(insert.run(id, name, tag).changes) === 1) return 'kept';
    return findSame.get(id, name, tag) === undefined ? 'id-taken' : 'kept';
  };

  return {
    createAll(plants) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const outcomes = plants.map((plant) => create(plant));
        database.exec('COMMIT');
        return outcomes;
      } catch (thrown) {
        // Some failures have already rolled back (sqlite.org/lang_transaction.html §3.1).
        if (database.isTransaction) database.exec('ROLLBACK');
        throw thrown;
      }
    },
  };
};
