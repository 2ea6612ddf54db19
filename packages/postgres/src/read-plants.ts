import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { connectLeader, serversOf } from './connect-leader.ts';
import { readDatabaseUrl } from './database-url.ts';
import { connectError, type OpenPostgresError, statementError } from './open-error.ts';
import type { Row, Session } from './session.ts';

/** Options of {@link readPlants}. */
export type ReadPlantsOptions = {
  /** `postgres://user:password@host:5432/database`, as {@link openPostgresRepository} takes it. */
  readonly url: string;
  /** Reads only the plants with a greater id, as after an interruption. Default: reads all plants. */
  readonly after?: bigint;
};

/** How long one page may take, in milliseconds. */
const pageTimeoutMs = 30_000;

const maxPagePlants = 1_000;
/** Bytes of text after which a page ends; one plant may always be longer. */
const maxPageBytes = 4 * 2 ** 20;

const smallestId = -(2n ** 63n);
const largestId = 2n ** 63n - 1n;

// The sizes of long texts are known without reading them.
const pageStatement = `SELECT id, name, tag FROM (
    SELECT id, name, tag, sum(octet_length(name) + coalesce(octet_length(tag), 0)) OVER
      (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT ${maxPagePlants}) AS page
  ) AS sized WHERE coalesce(before, 0) < ${maxPageBytes} ORDER BY id`;

const plantOf = ([id, name, tag]: Row): NewPlant => {
  const plant = { id: BigInt(id ?? ''), name: name ?? '' };
  return typeof tag === 'string' ? { ...plant, tag } : plant;
};

const readPage = async (session: Session, from: bigint): Promise<readonly Row[]> =>
  session.query({ text: pageStatement, values: [String(from)] }, pageTimeoutMs);

/**
 * Reads the plants of a PostgreSQL database in the order of their ids. Creates go on meanwhile. It reads every plant that
 * was acknowledged before it began, and may read later ones. It keeps at most 1,000 plants in memory, or about 4 MiB, and
 * a single plant that is longer. It makes no table, and needs the right to `SELECT` only.
 *
 * Yields a plant at a time as `ok`. What keeps it from reading on is the last thing that it yields, as `err`: a server that
 * cannot be reached, a lost connection. With `after`, the next call goes on where this one ended.
 *
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
export async function* readPlants({
  url: text,
  after,
}: ReadPlantsOptions): AsyncGenerator<Result<NewPlant, OpenPostgresError>, void, void> {
  const read = readDatabaseUrl(text, process.env);
  if (read.isErr()) {
    yield err(read.error);
    return;
  }
  const url = read.value;
  const connected = await connectLeader(serversOf(url));
  if (connected.isErr()) {
    yield err(connectError(url, connected.error));
    return;
  }
  const session = connected.value;
  try {
    let last = after ?? smallestId - 1n;
    while (last < largestId) {
      let rows: readonly Row[];
      try {
        rows = await readPage(session, last + 1n);
      } catch (thrown) {
        yield err(statementError(url, session.address, thrown));
        return;
      }
      for (const row of rows) {
        const plant = plantOf(row);
        yield ok(plant);
        last = plant.id;
      }
      if (rows.length === 0) return;
    }
  } finally {
    await session.close();
  }
}
