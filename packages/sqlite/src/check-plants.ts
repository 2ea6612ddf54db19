import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { findDamage, readErrorOf } from './find-damage.ts';
import type { Database } from './node-sqlite.ts';
import type { OpenSqliteError } from './open-error.ts';
import { openForReading } from './open-for-reading.ts';
import { largestId, smallestId } from './read-plants.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { walSize, resolveLinks } from './wal-file.ts';

/** Range of ids whose stored plants are all readable. */
export type IdRange = {
  /** Id of the first plant. */
  readonly from: bigint;
  /** Id of the last plant. */
  readonly to: bigint;
  /** Number of plants. */
  readonly plants: number;
};

/** Result of checking a SQLite file. */
export type PlantsCheck = {
  /** Number of readable plants. */
  readonly plants: number;
  /** Size of the file, in bytes. */
  readonly size: number;
  /** Size of the WAL file, in bytes; 0 when it does not exist. */
  readonly walSize: number;
  /** Output of SQLite's `integrity_check`, at most 100 lines. Empty for an intact file. */
  readonly damage: readonly string[];
  /** Ranges of readable plants, in ascending order of their ids. At most one range for an intact file. */
  readonly readable: readonly IdRange[];
};

const noLimit = -1;

type ReadOn = { readonly range: IdRange | undefined; readonly isDamaged: boolean };

/** Reads from an id to the last id, or to a damaged page. */
const readOn = (database: Database, from: bigint, limit: number): ReadOn => {
  let range: IdRange | undefined;
  let next = from;
  try {
    // Prepared for each read: after a failure, the next use of the statement reports it again.
    const select = database.prepare(
      'SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
    );
    select.setReadBigInts(true);
    for (const row of select.iterate(from, limit)) {
      const id = row['id'] as bigint;
      // A page with content of another page: its ids are out of order.
      if (id < next) return { range, isDamaged: true };
      range = { from: range?.from ?? id, to: id, plants: (range?.plants ?? 0) + 1 };
      next = id + 1n;
    }
    return { range, isDamaged: false };
  } catch (thrown) {
    if (sqliteFailureOf(thrown) !== 'damaged') throw thrown;
    return { range, isDamaged: true };
  }
};

/** Distances between ids to probe, each half as long again: the ids of a page span from some hundred to 2^60. */
const distances: bigint[] = [];
for (let one = 1n; one < largestId - smallestId; one += one / 2n + 1n) distances.push(one);

/** Returns the first readable id after a damaged page that probing finds; `undefined` if no later id is readable. */
const nextReadable = (damaged: bigint, isReadable: (id: bigint) => boolean): bigint | undefined => {
  const probe = (ids: readonly bigint[]) =>
    ids.filter((id) => id > damaged && id <= largestId).find(isReadable);
  /** Returns where a damaged page before a readable id ends. */
  const endOfDamage = (readable: bigint): bigint => {
    let [before, after] = [damaged, readable];
    while (after - before > 1n) {
      const middle = (before + after) / 2n;
      if (isReadable(middle)) after = middle;
      else before = middle;
    }
    return after;
  };
  let found: bigint | undefined;
  let next = probe([...distances.map((one) => damaged + one), largestId]);
  while (next !== undefined) {
    const end = endOfDamage(next);
    found = end;
    // There may be readable pages before the damaged one that ends here.
    next = probe(distances.map((one) => end - one));
  }
  return found;
};

/** Returns the range of all plants of an intact file: `integrity_check` has read them. */
const rangeOfAll = (database: Database): IdRange[] => {
  // As subqueries, SQLite finds the first two without reading the others, and counts pages instead of rows.
  const select = database.prepare(
    'SELECT (SELECT min(id) FROM plants) AS first, (SELECT max(id) FROM plants) AS last, count(*) AS plants FROM plants',
  );
  select.setReadBigInts(true);
  const { first, last, plants } = select.get() as Record<'first' | 'last' | 'plants', bigint>;
  return plants === 0n ? [] : [{ from: first, to: last, plants: Number(plants) }];
};

const findReadable = (database: Database): IdRange[] => {
  const isReadable = (id: bigint) => !readOn(database, id, 1).isDamaged;
  const ranges: IdRange[] = [];
  let from: bigint | undefined = smallestId;
  while (from !== undefined && from <= largestId) {
    const { range, isDamaged } = readOn(database, from, noLimit);
    if (range !== undefined) ranges.push(range);
    if (!isDamaged) return ranges;
    const damaged: bigint = range === undefined ? from : range.to + 1n;
    from = damaged > largestId ? undefined : nextReadable(damaged, isReadable);
  }
  return ranges;
};

/**
 * Checks a SQLite file with `integrity_check` and by reading every plant, while a repository may have it open. For a
 * damaged file, finds the ranges of ids that `readPlants` can still read; it can miss plants between two damaged
 * pages whose ids span far less than those of the pages. Blocks the thread while it reads.
 *
 * @returns the result of the check, or the reason why the file cannot be read, such as an I/O error
 * @example
 * ```ts
 * import { checkPlants } from '@plantstore/sqlite';
 *
 * const checked = checkPlants('plants.db');
 * if (checked.isErr()) throw new Error(checked.error.message);
 * console.log(checked.value.damage.length === 0 ? 'intact' : checked.value.readable);
 * ```
 */
export const checkPlants = (path: string): Result<PlantsCheck, OpenSqliteError> => {
  const absolute = resolve(path);
  const opened = openForReading(absolute);
  if (opened.isErr()) return err(opened.error);
  const database = opened.value;
  try {
    const file = resolveLinks(absolute);
    const damage = findDamage(database, file);
    const readable = damage.length === 0 ? rangeOfAll(database) : findReadable(database);
    return ok({
      plants: readable.reduce((sum, { plants }) => sum + plants, 0),
      size: statSync(file).size,
      walSize: walSize(file),
      damage,
      readable,
    });
  } catch (thrown) {
    const error = readErrorOf(absolute, thrown, database);
    if (error === undefined) throw thrown;
    return err(error);
  } finally {
    database.close();
  }
};
