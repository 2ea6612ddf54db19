import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { readErrorOf } from './find-damage.ts';
import type { Database } from './node-sqlite.ts';
import type { OpenSqliteError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';

/** Options of {@link readPlants}. */
export type ReadPlantsOptions = {
  /** Path of the database file, absolute or relative to the working directory. */
  readonly path: string;
  /** Reads only plants with a greater id, for example to continue after an interruption. Default: all plants. */
  readonly after?: bigint;
};

/** Limits of a slice, which is read in one iteration of the event loop. `maxText` is in UTF-16 code units; a single plant may exceed it. */
const slice = { maxPlants: 1_000, maxText: 2 ** 20 };

/** The range of int64. */
export const smallestId = -(2n ** 63n);
export const largestId = 2n ** 63n - 1n;

type Slice = { readonly plants: readonly NewPlant[]; readonly error?: OpenSqliteError };
type ReadSlice = (from: bigint) => Slice;

const plantOf = ({ id, name, tag }: Record<string, unknown>): NewPlant => {
  const plant = { id: id as bigint, name: name as string };
  return tag === null ? plant : { ...plant, tag: tag as string };
};

/** Each slice is a separate transaction, because a long one would prevent checkpoints. */
const createReadSlice = (database: Database, path: string): ReadSlice => {
  const select = database.prepare(
    `SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ${slice.maxPlants}`,
  );
  select.setReadBigInts(true);
  return (from) => {
    const plants: NewPlant[] = [];
    let text = 0;
    try {
      for (const row of select.iterate(from)) {
        const plant = plantOf(row);
        plants.push(plant);
        text += plant.name.length + (plant.tag?.length ?? 0);
        if (text >= slice.maxText) break;
      }
      return { plants };
    } catch (thrown) {
      const error = readErrorOf(path, thrown, database);
      if (error === undefined) throw thrown;
      return { plants, error };
    }
  };
};

/**
 * Reads the plants of a database file in ascending order of their ids, while a repository may have it open and create
 * plants. Reads every plant that was acknowledged before the start, and possibly later ones. Keeps at most 1,000 plants
 * in memory, and at most 1 Mi UTF-16 code units of text plus one plant.
 *
 * Yields each plant as `ok`. An error, such as a file that cannot be opened or a damaged page, is yielded as `err`, and
 * ends the iteration. To read the plants after a damaged page, call it again with a greater `after`.
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
export async function* readPlants({
  path,
  after,
}: ReadPlantsOptions): AsyncGenerator<Result<NewPlant, OpenSqliteError>, void, void> {
  const absolute = resolve(path);
  const opened = openForReading(absolute);
  if (opened.isErr()) {
    yield err(opened.error);
    return;
  }
  const database = opened.value;
  try {
    const readSlice = createReadSlice(database, absolute);
    let last = after ?? smallestId - 1n;
    while (last < largestId) {
      const { plants, error } = readSlice(last + 1n);
      for (const plant of plants) yield ok(plant);
      if (error !== undefined) {
        yield err(error);
        return;
      }
      const end = plants.at(-1);
      if (end === undefined) return;
      last = end.id;
      await nextTurn();
    }
  } finally {
    database.close();
  }
}
