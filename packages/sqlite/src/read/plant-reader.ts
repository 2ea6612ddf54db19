import type { NewPlant } from '@plantstore/core';
import { invalidMember, textLength } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, plantOf, type Row } from '../open/columns.ts';
import { type Fault, openError, type OpenSqliteError } from '../open/errors.ts';
import { findColumns, isOwnTable } from '../open/table.ts';
import type { Reader } from './reader.ts';

/**
 * Reads the table of a store in a transaction for each batch, because a long one would prevent
 * checkpoints, and the table of another program, where ids may repeat, by one statement.
 */
export class PlantReader {
  isAtEnd = false;
  readonly #reader: Reader;
  readonly #onUnknownColumns: (names: readonly string[]) => void;
  #isOwn = false;
  /** The id that was read last, or the one to start after. */
  #lastId: bigint;
  #columns: string | undefined;
  #rows: Rows | undefined;

  constructor(
    reader: Reader,
    { after = smallestId - 1n, onUnknownColumns = () => {} }: Omit<ReadPlantsOptions, 'path'> = {},
  ) {
    this.#reader = reader;
    this.#onUnknownColumns = onUnknownColumns;
    this.#lastId = after;
  }

  readBatch(): PlantBatch {
    const plants: NewPlant[] = [];
    try {
      this.#rows ??= this.#begin();
      const fault = this.#readInto(plants, this.#rows);
      if (this.#isOwn || this.isAtEnd) this.#commit();
      const overwritten = this.#reader.findOverwritten();
      const error = overwritten ?? (fault && openError(this.#reader.path, fault));
      if (error !== undefined && error.kind !== 'not-a-plant') this.isAtEnd = true;
      return { plants: overwritten === undefined ? plants : [], error };
    } catch (thrown) {
      this.isAtEnd = true;
      return { plants, error: this.#reader.explain(thrown) };
    }
  }

  /** Adds plants up to the limits, or up to a row that is no plant. */
  #readInto(plants: NewPlant[], rows: Rows): Fault | undefined {
    const before = this.#lastId;
    let text = 0;
    for (let count = 1; ; count += 1) {
      const { value: row } = rows.next();
      this.isAtEnd = !row;
      if (!row) return undefined;
      const fault = this.#faultOf(row);
      if (typeof row[0] === 'bigint') this.#lastId = row[0];
      if (fault !== undefined) return fault;
      const plant = plantOf(row as Row);
      plants.push(plant);
      text += textLength(plant);
      if (plants.length < limits.plants && text < limits.text) continue;
      return this.#isOwn && this.#hasSkipped(before, count) ? { kind: 'damaged' } : undefined;
    }
  }

  /**
   * Whether the other direction finds more rows than the batch has. Ids ascend where a page was
   * overwritten by a later one; the next search would then skip the pages between them.
   */
  #hasSkipped(before: bigint, count: number): boolean {
    const sql = 'SELECT id FROM plants WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?';
    const select = this.#reader.prepare(sql);
    select.setReadBigInts(true);
    const found = select.get(this.#lastId, count)?.['id'];
    return typeof found === 'bigint' && found > before;
  }

  /** Begins a transaction, because a server may add a column between two statements. */
  #begin(): Rows {
    this.#reader.exec('BEGIN');
    const { members, others } = findColumns(this.#reader);
    const isFirst = this.#columns === undefined;
    this.#columns = readable(members);
    if (isFirst) this.#isOwn = isOwnTable(this.#reader);
    if (isFirst && others.length > 0) this.#onUnknownColumns(others);
    // SQLite searches for the last row, and goes on from it. A search for the next number would
    // skip an overwritten page. A column of texts would be compared with the number as a text.
    const isAfter = this.#isOwn ? 'id > ?' : '+id > ? OR id IS NULL';
    const sql = `SELECT ${this.#columns} FROM plants WHERE ${isAfter} ORDER BY id`;
    const select = this.#reader.prepare(sql);
    select.setReadBigInts(true);
    select.setReturnArrays(true);
    const after = this.#lastId < smallestId ? -Infinity : this.#lastId;
    return select.iterate(after) as Iterator<unknown> as Rows;
  }

  #commit(): void {
    this.#rows?.return?.();
    this.#rows = undefined;
    this.#reader.exec('COMMIT');
  }

  /** Returns why a row is no plant, or that it has the place of another one. */
  #faultOf(row: readonly unknown[]): Fault | undefined {
    const [id] = row;
    if (typeof id === 'bigint' && (id < this.#lastId || (this.#isOwn && id === this.#lastId)))
      return { kind: 'damaged' };
    const invalid = invalidMemberOf(row);
    let reason: string | undefined;
    if (typeof id !== 'bigint') reason = 'the id is no integer';
    else if (id === this.#lastId) reason = 'another row has this id';
    else if (invalid !== undefined) reason = `the ${invalid} is no text`;
    else if (row.join().includes('\u{fffd}') && this.#hasReplacedBytes(row as Row))
      reason = 'a text is not UTF-8';
    if (reason === undefined) return undefined;
    const shown = typeof id === 'bigint' ? id : JSON.stringify(String(id).slice(0, 100));
    return { kind: 'not-a-plant', detail: `${shown}: ${reason}` };
  }

  /** Whether bytes that are not UTF-8 were read as U+FFFD: the table has another text. */
  #hasReplacedBytes(row: Row): boolean {
    const values = row.map(() => '?').join();
    const sql = `SELECT 1 FROM plants WHERE id = ? AND (${this.#columns}) IS (${values})`;
    return this.#reader.prepare(sql).get(row[0], ...row) === undefined;
  }
}

/** Options of `readPlants` and `readPlantBatches`. */
export type ReadPlantsOptions = {
  /** Path of the database file, absolute or relative to the working directory. */
  readonly path: string;
  /** Reads only plants with a greater id, to continue an interrupted reading. Default: all. */
  readonly after?: bigint;
  /** Called with the names of columns that are not read: of others, or of a newer version. */
  readonly onUnknownColumns?: (names: readonly string[]) => void;
};

/** Plants, and the error after them: of a row that is no plant, or one that ends the reading. */
export type PlantBatch = {
  readonly plants: readonly NewPlant[];
  readonly error?: OpenSqliteError | undefined;
};

/** Reads every plant, and returns their number, or the first error. */
export function countPlants(reader: Reader): Result<number, OpenSqliteError> {
  const plants = new PlantReader(reader);
  let count = 0;
  while (!plants.isAtEnd) {
    const { plants: read, error } = plants.readBatch();
    if (error !== undefined) return err(error);
    count += read.length;
  }
  return ok(count);
}

/** Returns the columns to read of a table, NULL for each that it does not have. */
function readable(members: readonly string[]): string {
  // Node 22 would read a text up to U+0000. A number is none.
  const valueOf = (name: string) =>
    name === 'id' ? name : `iif(instr(${name}, char(0)), 0, ${name})`;
  return columnNames.map((name) => (members.includes(name) ? valueOf(name) : 'NULL')).join();
}

type Rows = Iterator<readonly unknown[], null | undefined>;

/** Limits of a batch, which is read in one turn of the event loop. A plant may exceed `text`. */
const limits = { plants: 1_000, text: 2 ** 20 };

const smallestId = -(2n ** 63n);

/** Returns the name of a column whose value no plant can have. */
function invalidMemberOf(row: readonly unknown[]): string | undefined {
  const wrong = row.findIndex(
    (text, index) => index > 0 && text !== null && typeof text !== 'string',
  );
  return wrong === -1 ? invalidMember(plantOf(row as Row)) : columnNames[wrong];
}
