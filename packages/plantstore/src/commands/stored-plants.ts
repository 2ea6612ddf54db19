import type { NewPlant } from '@plantstore/core';
import { readPlantBatches } from '@plantstore/sqlite';
import { err, type Result } from 'neverthrow';
import { loadPostgres } from '../open-store.ts';
import type { StoredDatabase } from './command.ts';
import { plantCount } from './progress.ts';

/** Opens the plants of a database for reading. */
export async function openStored(database: StoredDatabase): Promise<StoredPlants> {
  const found = { source: '', unknownColumns: [] as readonly string[] };
  const reading = readBatches(database, {
    onTable: (table) => Object.assign(found, { source: ` from ${table}` }),
    onUnknownColumns: (unknownColumns) => Object.assign(found, { unknownColumns }),
  });
  // A store names its table and columns before its first result.
  const first = await reading.next();
  return { ...found, batches: batches() };

  async function* batches(): Batches {
    if (first.done !== true) yield first.value;
    yield* reading;
  }
}

/** The plants of a database, in the order of their ids. */
export type StoredPlants = {
  /** The name of the table of PostgreSQL, after "from"; else empty. */
  readonly source: string;
  /** The names of columns of other programs, which are not read. */
  readonly unknownColumns: readonly string[];
  /** An error is the last result, unless its kind is `not-a-plant`: it names a row. */
  readonly batches: Batches;
};

type Batches = AsyncGenerator<Result<readonly NewPlant[], ReadError>, void, void>;
type ReadError = { readonly kind?: string; readonly message: string };

type Reports = {
  readonly onTable: (table: string) => void;
  readonly onUnknownColumns: (names: readonly string[]) => void;
};

async function* readBatches(database: StoredDatabase, reports: Reports): Batches {
  if (database.kind === 'sqlite') {
    return yield* readPlantBatches({ path: database.path, ...reports });
  }
  const postgres = await loadPostgres();
  if (postgres.isErr()) yield err({ message: postgres.error });
  else yield* postgres.value.readPlantBatches({ url: database.url, ...reports });
}

/** Returns why reading failed, and after how many plants. */
export function readFailure(message: string, plants: number): string {
  return plants === 0 ? message : `${message}; ${plantCount(plants)} were read before`;
}
