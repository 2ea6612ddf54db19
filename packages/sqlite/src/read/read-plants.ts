import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import type { OpenSqliteError } from '../open/errors.ts';
import { PlantReader, type ReadPlantsOptions } from './plant-reader.ts';
import { Reader } from './reader.ts';

/**
 * Reads the plants of a database file in ascending order of their ids, while a repository may have
 * it open and create plants. Reads every plant that was acknowledged before the start, and possibly
 * later ones. Keeps at most 1,000 plants in memory, and at most 1 Mi UTF-16 code units of text plus
 * one plant.
 *
 * Yields each plant as `ok`, and as `err` each row of another program that is no plant
 * (`not-a-plant`). Any other error, such as a file that cannot be opened or a damaged page, is
 * yielded as `err`, and ends the iteration. To read the plants after a damaged page, call it again
 * with a greater `after`.
 *
 * @param options - the database, and the id to start after
 * @example
 * ```ts
 * import { readPlants } from '@plantstore/sqlite';
 *
 * for await (const read of readPlants({ path: 'plants.db' })) {
 *   if (read.isErr()) throw new Error(read.error.message);
 *   const { id, name, tag } = read.value;
 *   console.log(id, name, tag);
 * }
 * ```
 */
export async function* readPlants(
  options: ReadPlantsOptions,
): AsyncGenerator<Result<NewPlant, OpenSqliteError>, void, void> {
  for await (const read of readPlantBatches(options)) {
    if (read.isOk()) for (const plant of read.value) yield ok(plant);
    else yield err(read.error);
  }
}

/**
 * Reads the plants of a database file in batches of at most 1,000, as {@link readPlants} reads them
 * one by one, in a fraction of the time.
 */
export async function* readPlantBatches({
  path,
  ...options
}: ReadPlantsOptions): AsyncGenerator<Result<readonly NewPlant[], OpenSqliteError>, void, void> {
  const opened = Reader.open(path);
  if (opened.isErr()) return yield err(opened.error);
  try {
    const reader = new PlantReader(opened.value, options);
    while (!reader.isAtEnd) {
      const { plants, error } = reader.readBatch();
      if (plants.length > 0) yield ok(plants);
      if (error !== undefined) yield err(error);
      await nextTurn();
    }
  } finally {
    opened.value.close();
  }
}
