import type { NewPlant } from '@plantstore/core';
import { readPlants } from '@plantstore/sqlite';
import { loadPostgres } from '../host/open-store.ts';
import type { StoredDatabase } from './command.ts';
import { plantCount } from './progress.ts';

/** A plant, or why reading failed. */
export type Read =
  | { readonly kind: 'plant'; readonly plant: NewPlant }
  | { readonly kind: 'failed'; readonly message: string };

const readSqlite = (path: string, after: bigint | undefined) =>
  readPlants({ path, ...(after !== undefined && { after }) });

const readPostgres = async (url: string, after: bigint | undefined) => {
  const postgres = await loadPostgres();
  return postgres.kind === 'cannot-open'
    ? postgres
    : postgres.readPlants({ url, ...(after !== undefined && { after }) });
};

/** Reads the plants of a database in the order of their ids, starting with the id `from`. */
export async function* readStored(
  database: StoredDatabase,
  from: bigint | undefined,
): AsyncGenerator<Read, void, void> {
  const after = from === undefined ? undefined : from - 1n;
  const plants =
    database.kind === 'sqlite'
      ? readSqlite(database.path, after)
      : await readPostgres(database.url, after);
  if ('kind' in plants) {
    yield { kind: 'failed', message: plants.message };
    return;
  }
  for await (const read of plants) {
    yield read.isOk()
      ? { kind: 'plant', plant: read.value }
      : { kind: 'failed', message: read.error.message };
  }
}

/** Returns why reading failed, and after how many plants. */
export const readFailure = (message: string, plants: number): string =>
  plants === 0 ? message : `${message}; ${plantCount(plants)} were read before`;
