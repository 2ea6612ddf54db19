import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, nullableNames, plantOf, type Row, textNames } from '../open/columns.ts';
import { connectLeader } from '../open/connect.ts';
import { readDatabaseUrl } from '../open/database-url.ts';
import { type OpenPostgresError, statementError } from '../open/errors.ts';
import { findUnknownColumns } from '../open/table.ts';
import type { Session } from '../open/session.ts';

/** Options of {@link readPlants} and {@link readPlantBatches}. */
export type ReadPlantsOptions = {
  /** `postgres://user:password@host:5432/database`, as for {@link openPostgresRepository}. */
  readonly url: string;
  /** Reads only plants with a greater id, for example to continue after an interruption. Default: all plants. */
  readonly after?: bigint;
  /** Called with the names of the columns that are not read, if there are any: of another program, or a newer version. */
  readonly onUnknownColumns?: (names: readonly string[]) => void;
};

/** Timeout of reading one page, in milliseconds. */
const pageTimeoutMs = 30_000;

const maxPagePlants = 1_000;
/** Maximum text of a page, in bytes; a single plant may exceed it. */
const maxPageBytes = 4 * 2 ** 20;

const smallestId = -(2n ** 63n);
const largestId = 2n ** 63n - 1n;

const columns = columnNames.join(', ');
// A column that the table of an earlier version does not have is that of `absent`, which encloses it.
const absent = nullableNames.map((name) => `NULL::text AS ${name}`).join(', ');
const nextPlants = `SELECT page.* FROM (SELECT ${absent}) AS absent,
  LATERAL (SELECT ${columns} FROM plants WHERE id >= $1 ORDER BY id LIMIT ${maxPagePlants}) AS page`;
// PostgreSQL knows the size of a long text without reading it.
const size = textNames.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');

/** Returns a page as one text, because the driver takes longer for a value than the server; NULL when it is too long. */
const wholePage = `SELECT json_agg(json_build_array(id::text, ${textNames.join(', ')}) ORDER BY id) FROM (${nextPlants}) AS page
  WHERE ${maxPageBytes} >= (SELECT sum(${size}) FROM (${nextPlants}) AS page)`;

const longPage = `SELECT ${columns} FROM (
    SELECT ${columns}, sum(${size}) OVER
      (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (${nextPlants}) AS page
  ) AS sized WHERE coalesce(before, 0) < ${maxPageBytes} ORDER BY id`;

const readPage = async (session: Session, from: bigint): Promise<readonly NewPlant[]> => {
  const values = [String(from)];
  const [[page] = []] = await session.query({ text: wholePage, values });
  const rows =
    typeof page === 'string'
      ? (JSON.parse(page) as readonly Row[])
      : await session.query({ text: longPage, values });
  return rows.map(plantOf);
};

/**
 * Reads the plants of a PostgreSQL database in batches, as {@link readPlants} reads them one by one, in a fraction of the
 * time.
 *
 * @param options - the database, and the id to start after
 * @example
 * ```ts
 * import { readPlantBatches } from '@plantstore/postgres';
 *
 * let plants = 0;
 * for await (const read of readPlantBatches({ url: 'postgres://ada:secret@localhost/garden' })) {
 *   if (read.isErr()) throw new Error(read.error.message);
 *   plants += read.value.length;
 * }
 * console.log(plants);
 * ```
 */
export async function* readPlantBatches({
  url: text,
  after,
  onUnknownColumns = () => {},
}: ReadPlantsOptions): AsyncGenerator<Result<readonly NewPlant[], OpenPostgresError>, void, void> {
  const read = readDatabaseUrl(text, process.env);
  if (read.isErr()) {
    yield err(read.error);
    return;
  }
  const url = read.value;
  const connected = await connectLeader({ ...url, statementTimeoutMs: pageTimeoutMs });
  if (connected.isErr()) {
    yield err(connected.error);
    return;
  }
  const session = connected.value;
  let last = after ?? smallestId - 1n;
  try {
    const unknown = await findUnknownColumns(session);
    if (unknown.length > 0) onUnknownColumns(unknown);
    while (last < largestId) {
      const plants = await readPage(session, last + 1n);
      const end = plants.at(-1);
      if (end === undefined) return;
      yield ok(plants);
      last = end.id;
    }
  } catch (thrown) {
    yield err(statementError(url, session.address, thrown));
  } finally {
    await session.close();
  }
}

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
