import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, nullableNames, plantOf, type Row, textNames } from '../open/columns.ts';
import { createConnect } from '../open/connect.ts';
import type { DatabaseUrl } from '../open/database-url.ts';
import { type OpenPostgresError, statementError } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { findTable, foreign, type PlantsTable, readColumns } from '../open/table.ts';

/**
 * Reads the plants of a PostgreSQL database in ascending order of their ids, while repositories may create plants.
 * Reads every plant that was acknowledged before the start, and possibly later ones. Keeps at most 1,000 plants in memory,
 * and at most about 4 MiB of text plus one plant. Requires only the `SELECT` privilege, and creates no table.
 *
 * Yields each plant as `ok`. An error, such as an unreachable server or a lost connection, is yielded as `err`, and ends
 * the iteration. To continue, call it again with the last id as `after`.
 *
 * @param options - the database, and the id to start after
 * @example
 * ```ts
 * import { readPlants } from '@plantstore/postgres';
 *
 * for await (const read of readPlants({ url: 'postgres://ada:secret@localhost/garden' })) {
 *   if (read.isErr()) throw new Error(read.error.message);
 *   const { id, name, tag } = read.value;
 *   console.log(id, name, tag);
 * }
 * ```
 */
export async function* readPlants(
  options: ReadPlantsOptions,
): AsyncGenerator<Result<NewPlant, OpenPostgresError>, void, void> {
  for await (const read of readPlantBatches(options)) {
    if (read.isOk()) for (const plant of read.value) yield ok(plant);
    else yield err(read.error);
  }
}

/** Reads the plants of a PostgreSQL database in batches, as {@link readPlants} does one by one, in a fraction of the time. */
export async function* readPlantBatches({
  url: text,
  after,
  onTable = () => {},
  onUnknownColumns = () => {},
}: ReadPlantsOptions): AsyncGenerator<Result<readonly NewPlant[], OpenPostgresError>, void, void> {
  const connect = createConnect({ url: text, statementTimeoutMs: pageTimeoutMs, readsOnly: true });
  const connected = await connect();
  if (connected.isErr()) return yield err(connected.error.error);
  const { session, url } = connected.value;
  const attempt = async <T>(work: Promise<Result<T, OpenPostgresError>>) =>
    work.catch((thrown: unknown) => err(statementError(url, session.address, thrown)));
  try {
    const found = await attempt(findReadable(session, url));
    if (found.isErr()) return yield err(found.error);
    const { plantsTable, unknown } = found.value;
    onTable(plantsTable.shown);
    if (unknown.length > 0) onUnknownColumns(unknown);
    for (let last = after; ;) {
      const page = await attempt(readPage(session, plantsTable, last));
      const end = page.isOk() ? page.value.at(-1) : undefined;
      if (page.isErr() || end !== undefined) yield page;
      if (end === undefined) return;
      last = end.id;
    }
  } finally {
    await session.close();
  }
}

/** Options of {@link readPlants} and {@link readPlantBatches}. */
export type ReadPlantsOptions = {
  /** `postgres://user:password@host:5432/database`, as for {@link openPostgresRepository}. */
  readonly url: string;
  /** Reads only plants with a greater id, for example to continue after an interruption. Default: all plants. */
  readonly after?: bigint;
  /** Called before the first plant with the name of the table, its schema and its database, for the operator. */
  readonly onTable?: (table: string) => void;
  /** Called with the names of the columns that are not read, if there are any: of another program, or a newer version. */
  readonly onUnknownColumns?: (names: readonly string[]) => void;
};

/** Finds the table, and what of it is not read. */
async function findReadable(session: Session, url: DatabaseUrl) {
  const found = await findTable(session, url);
  if (found.isErr()) return err(found.error);
  const { table } = found.value;
  const { definition, isReadable, isUsable, unknown } = await readColumns(session, table);
  if (!isReadable) return err(foreign(url, definition));
  const text = `SELECT FROM ${table} WHERE NOT ${isUsable} AND (${isIncomplete}) LIMIT 1`;
  const { length } = await session.query({ text });
  if (length > 0) return err(foreign(url, `${definition}; rows where ${isIncomplete}`));
  return ok({ plantsTable: found.value, unknown });
}

async function readPage(session: Session, { table }: PlantsTable, last?: bigint) {
  const next = nextPlants(table, last);
  const [[page] = []] = await session.query({ text: failIfHidden + wholePage(next) });
  if (typeof page === 'string') return ok((JSON.parse(page) as readonly Row[]).map(plantOf));
  const rows = await session.query({ text: failIfHidden + longPage(next) });
  return ok(rows.map(plantOf));
}

/** Timeout of reading one page, in milliseconds. */
const pageTimeoutMs = 30_000;
const maxPagePlants = 1_000;
/** Maximum text of a page, in bytes; a single plant may exceed it. */
const maxPageBytes = 4 * 2 ** 20;
const columns = columnNames.join(', ');
// A column that the table of an earlier version does not have is that of `absent`, which encloses it.
const absent = nullableNames.map((name) => `NULL::text AS ${name}`).join(', ');
// Ids repeat in a table without a key, a view, or a table with inheritance: a page has all rows of its last id.
const nextPlants = (table: string, last?: bigint): string =>
  `SELECT page.* FROM (SELECT ${absent}) AS absent, LATERAL (SELECT ${columns} FROM ${table}
    ${last === undefined ? '' : `WHERE id > '${last}'::bigint`} ORDER BY id FETCH FIRST ${maxPagePlants} ROWS WITH TIES) AS page`;
// Row security, also of a table below a view, then is an error, and hides no row. In one message with a query, because a pooler keeps no settings.
const failIfHidden = 'SET LOCAL row_security = off; ';
// The members of every version; later ones are optional.
const isIncomplete = 'id IS NULL OR name IS NULL';
// PostgreSQL stores the size of a long text apart from the text.
const size = textNames.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');

/** Returns a page as one text, because the driver takes longer for a value than the server; NULL when it is too long. */
const wholePage = (next: string): string =>
  `SELECT json_agg(json_build_array(id::text, ${textNames.join(', ')}) ORDER BY id) FROM (${next}) AS page
    WHERE ${maxPageBytes} >= (SELECT sum(${size}) FROM (${next}) AS page)`;

const longPage = (next: string): string => `SELECT ${columns} FROM (
    SELECT ${columns}, sum(${size}) OVER
      (ORDER BY id GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (${next}) AS page
  ) AS sized WHERE coalesce(before, 0) < ${maxPageBytes} ORDER BY id`;
