import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, nullableNames, plantOf, type Row, textNames } from '../open/columns.ts';
import { Servers } from '../open/connect.ts';
import { type Fault, faultOf, openError, type OpenPostgresError } from '../open/errors.ts';
import type { Session } from '../open/session.ts';
import { findTable, identityOf, type PlantsTable, readColumns } from '../open/table.ts';

/**
 * Reads the plants of a PostgreSQL database in ascending order of their ids, while repositories may
 * create plants: every plant that was acknowledged before the start, and possibly later ones. Keeps
 * at most 1,000 plants in memory, and about 4 MiB of text plus one plant. Requires only the
 * `SELECT` privilege, and creates no table.
 *
 * Yields each plant as `ok`. An error, such as an unreachable server or a lost connection, is
 * yielded as `err`, and ends the iteration. To continue, call it again with the last id as `after`.
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

/** Reads the plants of a PostgreSQL database in batches, as {@link readPlants} does one by one. */
export async function* readPlantBatches({
  url,
  after,
  onTable = () => {},
  onUnknownColumns = () => {},
}: ReadPlantsOptions): AsyncGenerator<Result<readonly NewPlant[], OpenPostgresError>, void, void> {
  const options = { url, statementTimeoutMs: pageTimeoutMs, readsOnly: true };
  const connected = await new Servers(options).connect();
  if (connected.isErr()) return yield err(connected.error.error);
  const { session, url: place } = connected.value;
  const attempt = async <T>(work: () => Promise<Result<T, Fault>>) =>
    work()
      .catch((thrown: unknown) => err(faultOf(session.server, thrown)))
      .then((result) => result.mapErr((fault) => openError(place, fault)));
  try {
    const found = await attempt(async () => findReadable(session, place));
    if (found.isErr()) return yield err(found.error);
    const { readable, unknown } = found.value;
    onTable(readable.shown);
    if (unknown.length > 0) onUnknownColumns(unknown);
    for (let last = after; ;) {
      const from = last;
      const page = await attempt(async () => readPage(session, readable, from));
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
  /** Reads only plants with a greater id, for example to continue. Default: all plants. */
  readonly after?: bigint;
  /** Called before the first plant with the names of the table, its schema and its database. */
  readonly onTable?: (table: string) => void;
  /** Called with the names of the columns, if any, of another program, or a newer version. */
  readonly onUnknownColumns?: (names: readonly string[]) => void;
};

/** A table, and its identity when its reading began. */
type Readable = PlantsTable & { readonly identity: unknown };

/** Finds the table, and what of it is not read. */
async function findReadable(session: Session, place: PlantsTable['place']) {
  const found = await findTable(session, place);
  if (found.isErr()) return err(found.error);
  const { table } = found.value;
  const identity = await identityOf(session, table);
  const { definition, isReadable, isUsable, unknown } = await readColumns(session, table);
  if (!isReadable) return err(foreign(definition));
  const text = `SELECT FROM ${table} WHERE NOT ${isUsable} AND (${isIncomplete}) LIMIT 1`;
  const incomplete = await session.query({ text });
  if (incomplete.length > 0) return err(foreign(`${definition}; rows where ${isIncomplete}`));
  return ok({ readable: { ...found.value, identity }, unknown });
}

/**
 * Reads a page, or none at the end, if each id is in one row of one table. Row security, also of a
 * table below a view, is an error, and hides no row.
 */
async function readPage(session: Session, { table, shown, identity }: Readable, last?: bigint) {
  const after = last === undefined ? '' : `WHERE id > '${last}'::bigint`;
  // In one message, because a pooler keeps no settings. One text, because the driver takes longer
  // for a value than the server.
  const [[page] = []] = await session.query({
    text: `SET LOCAL row_security = off;
      SELECT json_agg(json_build_array(id::text, ${textNames.join(', ')}) ORDER BY id) FROM (
        SELECT page.*, sum(${size}) OVER
          (ORDER BY id GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM (SELECT ${absent}) AS absent, LATERAL (SELECT ${columns} FROM ${table} ${after}
          ORDER BY id FETCH FIRST ${maxPagePlants} ROWS WITH TIES) AS page
      ) AS sized WHERE coalesce(before, 0) < ${maxPageBytes}`,
  });
  const plants = (JSON.parse(page ?? '[]') as readonly Row[]).map(plantOf);
  const repeated = plants.find(({ id }, index) => id === plants[index - 1]?.id);
  if (repeated !== undefined) return err(foreign(`several rows with the id ${repeated.id}`));
  const isSame = plants.length > 0 || (await identityOf(session, table)) === identity;
  return isSame ? ok(plants) : err({ kind: 'table-changed', detail: shown } satisfies Fault);
}

function foreign(detail: string): Fault {
  return { kind: 'table-foreign', detail };
}

/** Timeout of reading one page, in milliseconds. */
const pageTimeoutMs = 30_000;
const maxPagePlants = 1_000;
/** Maximum text of a page, in bytes; a single plant may exceed it. */
const maxPageBytes = 4 * 2 ** 20;
const columns = columnNames.join(', ');
// A column that an earlier table does not have is that of `absent`, which encloses it.
const absent = nullableNames.map((name) => `NULL::text AS ${name}`).join(', ');
// PostgreSQL stores the size of a long text apart from the text.
const size = textNames.map((name) => `coalesce(octet_length(page.${name}), 0)`).join(' + ');
// The members of every version; later ones are optional.
const isIncomplete = 'id IS NULL OR name IS NULL';
