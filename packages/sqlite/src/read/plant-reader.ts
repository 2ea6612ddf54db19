import type { NewPlant } from '@plantstore/core';
import { textLength } from '@plantstore/core/wire';
import { explain } from '../open/access.ts';
import { columnNames, plantOf, type Row } from '../open/columns.ts';
import type { Database } from '../open/connection.ts';
import { openError, type OpenSqliteError } from '../open/errors.ts';
import { findColumns, isOwnTable } from '../open/table.ts';

/** Plants, and the error after them: of a row that is no plant, or one that ends the reading. */
export type PlantBatch = {
  readonly plants: readonly NewPlant[];
  readonly error?: OpenSqliteError | undefined;
};

type OpenDatabase = {
  readonly database: Database;
  readonly path: string;
  readonly onUnknownColumns: (names: readonly string[]) => void;
};

type Rows = Iterator<readonly unknown[], null | undefined>;

/** Limits of a batch, which is read in one turn of the event loop. A plant may exceed `text`. */
const limits = { plants: 1_000, text: 2 ** 20 };

export const smallestId = -(2n ** 63n);
const largestId = 2n ** 63n - 1n;

/**
 * Reads the table of a store in a transaction for each batch, because a long one would prevent
 * checkpoints, and the table of another program, where ids may repeat, by one statement.
 */
export class PlantReader {
  isAtEnd: boolean;
  readonly #open: OpenDatabase;
  #isOwn = false;
  #lastId: bigint;
  #columns: string | undefined;
  #rows: Rows | undefined;

  constructor(open: OpenDatabase, after: bigint) {
    this.#open = open;
    this.#lastId = after;
    this.isAtEnd = after >= largestId;
  }

  readBatch(): PlantBatch {
    const plants: NewPlant[] = [];
    try {
      this.#rows ??= this.#begin();
      const error = this.#readInto(plants, this.#rows);
      if (this.#isOwn) this.#commit();
      return { plants, error };
    } catch (thrown) {
      this.isAtEnd = true;
      return { plants, error: explain(this.#open.path, thrown) };
    }
  }

  /** Adds plants up to the limits, or up to a row that is no plant. */
  #readInto(plants: NewPlant[], rows: Rows): OpenSqliteError | undefined {
    for (let text = 0; plants.length < limits.plants && text < limits.text;) {
      const { value: row } = rows.next();
      this.isAtEnd = !row || (this.#isOwn && row[0] === largestId);
      if (!row) return undefined;
      const [id] = row;
      const fault = faultOf(row, this.#lastId) ?? this.#findReplacedBytes(row as Row);
      if (typeof id === 'bigint') this.#lastId = id;
      if (fault !== undefined) {
        const shown = typeof id === 'bigint' ? id : JSON.stringify(String(id).slice(0, 100));
        return openError(this.#open.path, { kind: 'not-a-plant', detail: `${shown}: ${fault}` });
      }
      const plant = plantOf(row as Row);
      plants.push(plant);
      text += textLength(plant);
      if (this.isAtEnd) return undefined;
    }
    return undefined;
  }

  /** Begins a transaction, because a server may add a column between two statements. */
  #begin(): Rows {
    const { database, onUnknownColumns } = this.#open;
    database.exec('BEGIN');
    const { members, others } = findColumns(database);
    const isFirst = this.#columns === undefined;
    this.#columns = readable(members);
    if (isFirst) this.#isOwn = isOwnTable(database);
    if (isFirst && others.length > 0) onUnknownColumns(others);
    // A column of texts would be compared with the number as a text.
    const isAfter = this.#isOwn ? 'id >= ?' : '+id >= ? OR id IS NULL';
    const sql = `SELECT ${this.#columns} FROM plants WHERE ${isAfter} ORDER BY id`;
    const select = database.prepare(sql);
    select.setReadBigInts(true);
    select.setReturnArrays(true);
    return select.iterate(this.#lastId + 1n) as Iterator<unknown> as Rows;
  }

  #commit(): void {
    this.#rows?.return?.();
    this.#rows = undefined;
    this.#open.database.exec('COMMIT');
  }

  /** Returns a fault if bytes that are not UTF-8 were read as U+FFFD: the table has other text. */
  #findReplacedBytes(row: Row): string | undefined {
    if (!row.some((text) => typeof text === 'string' && text.includes('\u{fffd}')))
      return undefined;
    const values = row.map(() => '?').join();
    const sql = `SELECT 1 FROM plants WHERE id = ? AND (${this.#columns}) IS (${values})`;
    const found = this.#open.database.prepare(sql).get(row[0], ...row);
    return found === undefined ? 'a text is not UTF-8' : undefined;
  }
}

/** Returns the columns to read of a table, NULL for each that it does not have. */
export function readable(members: readonly string[]): string {
  return columnNames.map((name) => (members.includes(name) ? name : 'NULL')).join();
}

/** Returns why a row is no plant. */
function faultOf([id, ...texts]: readonly unknown[], previousId: bigint): string | undefined {
  if (typeof id !== 'bigint') return 'the id is no integer';
  if (id === previousId) return 'another row has this id';
  const wrong = texts.findIndex((text, index) => !isText(text) && (text !== null || index === 0));
  return wrong === -1 ? undefined : `the ${columnNames[wrong + 1]} is no text`;
}

/** Whether a value is a text that a plant can have. */
const isText = (value: unknown): boolean => typeof value === 'string' && !value.includes('\0');
