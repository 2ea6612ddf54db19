import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import type { Database } from './node-sqlite.ts';
import { openErrorOf, type OpenSqliteError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';

/** Options of {@link readPlants}. */
export type ReadPlantsOptions = {
  /** The database file, relative to the working directory or absolute. */
  readonly path: string;
  /** Reads only the plants with a greater id, as after an interruption. Default: reads all plants. */
  readonly after?: bigint;
};

/** Limits of what is read in one turn of the event loop; one plant may always be longer. Text in UTF-16 code units. */
const slice = { maxPlants: 1_000, maxText: 2 ** 20 };

const smallestId = -(2n ** 63n);
const largestId = 2n ** 63n - 1n;

type Slice = { readonly plants: readonly NewPlant[]; readonly error?: OpenSqliteError };
type ReadSlice = (from: bigint) => Slice;

const plantOf = ({ id, name, tag }: Record<string, unknown>): NewPlant => {
  const plant = { id: id as bigint, name: name as string };
  return tag === null ? plant : { ...plant, tag: tag as string };
};

/** Each slice is a transaction of its own: one that lasts would keep the log from being emptied. */
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
      const error = openErrorOf(path, thrown);
      if (error === undefined) throw thrown;
      return { plants, error };
    }
  };
};

/**
 * Reads the plants of a SQLite file in the order of their ids, whether or not a repository has the file open. Creates
 * go on meanwhile. It reads every plant that was acknowledged before it began, and may read later ones.
 * It keeps at most 1,000 plants in memory, or about 1 Mi characters, and a single plant that is longer.
 *
 * Yields a plant at a time as `ok`. What keeps it from reading on is the last thing that it yields, as `err`: a file that
 * cannot be opened, a damaged page. What comes after a damaged page can be read with a greater `after`.
 *
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
