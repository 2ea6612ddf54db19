import type { NewPlant } from '@plantstore/core';
import { readPlantBatches } from '@plantstore/sqlite';
import { err, type Result } from 'neverthrow';
import { loadPostgres } from '../open-store.ts';
import type { StoredDatabase } from './command.ts';
import { plantCount } from './progress.ts';

type ReadError = { readonly kind?: string; readonly message: string };

/**
 * Reads the plants of a database in batches, in the order of their ids. An error is the last
 * result, unless its kind is `not-a-plant`: it names a row. `onTable` is called with the name of
 * the table of PostgreSQL, and `onUnknownColumns` with the names of columns that are not read.
 */
export async function* readStored(
  database: StoredDatabase,
  onTable: (table: string) => void,
  onUnknownColumns: (names: readonly string[]) => void = () => {},
): AsyncGenerator<Result<readonly NewPlant[], ReadError>, void, void> {
  switch (database.kind) {
    case 'sqlite':
      return yield* readPlantBatches({ path: database.path, onUnknownColumns });
    case 'postgres': {
      const postgres = await loadPostgres();
      if (postgres.isErr()) yield err({ message: postgres.error });
      else
        yield* postgres.value.readPlantBatches({
          url: database.url,
          onTable,
          onUnknownColumns,
        });
    }
  }
}

/** Returns why reading failed, and after how many plants. */
export function readFailure(message: string, plants: number): string {
  return plants === 0 ? message : `${message}; ${plantCount(plants)} were read before`;
}
