import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewPlant } from '@plantstore/core';
import { invalidMember, textLength } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, plantOf, type Row } from '../open/columns.ts';
import type { Database } from '../open/connection.ts';
import { openError, type OpenSqliteError } from '../open/errors.ts';
import { absolutePath } from '../open/path.ts';
import { findColumns, isOwnTable } from '../open/table.ts';
import { openForReading, readErrorOf } from './reader.ts';

/**
 * Reads the plants of a database file in ascending order of their ids, while a repository may have it open and create
 * plants. Reads every plant that was acknowledged before the start, and possibly later ones. Keeps at most 1,000 plants
 * in memory, and at most 1 Mi UTF-16 code units of text plus one plant.
 *
 * Yields each plant as `ok`, and as `err` each row of another program that is no plant (`not-a-plant`). Any other error, such
 * as a file that cannot be opened or a damaged page, is yielded as `err`, and ends the iteration. To read the plants after a damaged page, call it again with a greater `after`.
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
 * Reads the plants of a database file in batches of at most 1,000, as {@link readPlants} reads them one by one, in a
 * fraction of the time.
 */
export async function* readPlantBatches({
  path,
  after = smallestId - 1n,
  onUnknownColumns = () => {},
}: ReadPlantsOptions): AsyncGenerator<Result<readonly NewPlant[], OpenSqliteError>, void, void> {
  const absolute = absolutePath(path);
  const opened = absolute.andThen(openForReading);
  if (opened.isErr()) {
    yield err(opened.error);
    return;
  }
  try {
    const batches = readBatches(opened.value, absolute.unwrapOr(path), after, onUnknownColumns);
    for (const read of batches) {
      yield read;
      await nextTurn();
    }
  } finally {
    opened.value.close();
  }
}

/** Options of {@link readPlants} and {@link readPlantBatches}. */
export type ReadPlantsOptions = {
  /** Path of the database file, absolute or relative to the working directory. */
  readonly path: string;
  /** Reads only plants with a greater id, for example to continue after an interruption. Default: all plants. */
  readonly after?: bigint;
  /** Called with the names of the columns that are not read, if there are any: of another program, or a newer version. */
  readonly onUnknownColumns?: (names: readonly string[]) => void;
};

/** Returns the columns to read of a table, NULL for each that it does not have. */
export function readable(members: readonly string[]): string {
  return columnNames.map((name) => (members.includes(name) ? name : 'NULL')).join();
}

/** Limits of a batch, which is read in one iteration of the event loop. `maxText` is in UTF-16 code units; a single plant may exceed it. */
const batch = { maxPlants: 1_000, maxText: 2 ** 20 };

const smallestId = -(2n ** 63n);
const largestId = 2n ** 63n - 1n;

/** Reads a table of a store in a transaction for each batch, because a long one would prevent checkpoints, and another one by one statement. */
function* readBatches(
  database: Database,
  path: string,
  after: bigint,
  onUnknownColumns: (names: readonly string[]) => void,
): Generator<Result<readonly NewPlant[], OpenSqliteError>> {
  let isOwn: boolean | undefined;
  let last = after;
  let rows: Rows | undefined;
  for (let isEnd = after >= largestId; !isEnd; isEnd ||= isOwn === true && last === largestId) {
    const plants: NewPlant[] = [];
    let error: OpenSqliteError | undefined;
    try {
      isOwn ??= isOwnTable(database);
      rows ??= selectRows(database, last, isOwn, last === after ? onUnknownColumns : () => {});
      for (let text = 0; plants.length < batch.maxPlants && text < batch.maxText;) {
        const { value: row } = rows.next();
        isEnd = !row;
        if (!row) break;
        const fault = faultOf(row, last) ?? findReplacedBytes(database, row as Row);
        if (typeof row[0] === 'bigint') last = row[0];
        if (fault !== undefined) {
          error = openError(path, { kind: 'not-a-plant', id: printable(row[0]), fault });
          break;
        }
        const plant = plantOf(row as Row);
        plants.push(plant);
        text += textLength(plant);
      }
      if (isOwn) {
        rows.return?.();
        rows = undefined;
        database.exec('COMMIT');
      }
    } catch (thrown) {
      isEnd = true;
      error = readErrorOf(path, thrown, database);
    }
    if (plants.length > 0) yield ok(plants);
    if (error !== undefined) yield err(error);
  }
}

type Rows = Iterator<readonly unknown[], null | undefined>;

/** Begins a transaction, because a server may add a column between two statements. */
function selectRows(
  database: Database,
  after: bigint,
  isOwn: boolean,
  onUnknownColumns: (names: readonly string[]) => void,
): Rows {
  database.exec('BEGIN');
  const { members, others } = findColumns(database);
  if (others.length > 0) onUnknownColumns(others);
  // A column of texts would be compared with the number as a text.
  const isAfter = isOwn ? 'id >= ?' : '+id >= ? OR id IS NULL';
  const sql = `SELECT ${readable(members)} FROM plants WHERE ${isAfter} ORDER BY id`;
  const select = database.prepare(sql);
  select.setReadBigInts(true);
  select.setReturnArrays(true);
  return select.iterate(after + 1n) as Iterator<unknown> as Rows;
}

/** Returns why a row is no plant. */
function faultOf([id, ...texts]: readonly unknown[], previousId: bigint): string | undefined {
  if (typeof id !== 'bigint') return 'the id is no integer';
  if (id === previousId) return 'another row has this id';
  const wrong = texts.findIndex((text) => text !== null && typeof text !== 'string');
  const name = columnNames[wrong + 1] ?? '';
  const invalid = wrong === -1 ? invalidMember(plantOf([id, ...texts] as Row)) : name;
  return invalid && `the ${invalid} is no text`;
}

/** Returns a fault if bytes that are not UTF-8 were read as U+FFFD: the table then does not have the text that was read. */
function findReplacedBytes(database: Database, row: Row): string | undefined {
  if (!row.some((text) => typeof text === 'string' && text.includes('\u{fffd}'))) return undefined;
  const columns = readable(findColumns(database).members);
  const sql = `SELECT 1 FROM plants WHERE id = ? AND (${columns}) IS (${row.map(() => '?').join()})`;
  return database.prepare(sql).get(row[0], ...row) ? undefined : 'a text is not UTF-8';
}

const printable = (id: unknown): string =>
  typeof id === 'bigint' ? String(id) : JSON.stringify(String(id).slice(0, 100));
