import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Committed, readCommitted } from './committed-pages.ts';
import { Database } from './node-sqlite.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';

/** Two fields of a database header (sqlite.org/fileformat2.html#database_header). */
type Header = { readonly pages: number; readonly cookie: number };

const readInteger = (database: Database, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

/** Reads the header of a file without its WAL file; `undefined` when SQLite cannot, as after an interrupted checkpoint. */
const headerOf = (path: string): Header | undefined => {
  let file: Database | undefined;
  try {
    file = new Database(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
    return { pages: readInteger(file, 'page_count'), cookie: readInteger(file, 'schema_version') };
  } catch (thrown) {
    if (sqliteFailureOf(thrown) === undefined) throw thrown;
    return undefined;
  } finally {
    file?.close();
  }
};

/** Whether commits can lead from the header in the file to the one in the WAL file. */
const follows = (wal: Committed, file: Header): boolean => {
  // A commit that changes the number of pages writes page 1, which contains it.
  if (wal.header === undefined) return wal.pages === file.pages;
  if (wal.pages >= file.pages) return true;
  const [cookie, autoVacuum] = [wal.header.readUInt32BE(40), wal.header.readUInt32BE(52)];
  // VACUUM and the backup API write every page, and increase the schema cookie.
  return autoVacuum !== 0 || (cookie > file.cookie && wal.hasFrom(1));
};

const isForeignNow = (path: string): boolean => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const wal = readCommitted(path);
  if (wal === undefined) return false;
  // SQLite removes a WAL file beside an empty file.
  if (size === 0) return true;
  // A partly written last page is also in the WAL file.
  if (!wal.hasFrom(Math.floor(size / wal.pageSize) + 1)) return true;
  const file = headerOf(path);
  return file !== undefined && !follows(wal, file);
};

const stateOf = (path: string): string =>
  [path, `${path}-wal`]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((found) => `${found?.ino} ${found?.size} ${found?.mtimeNs}`)
    .join();

const pauseMs = 50;

/**
 * Whether a file and its WAL file are not of one database, as after a backup was copied over the file: a page is in
 * neither, or no commit leads from one to the other. SQLite would open them, and plants would be lost. Returns `false`
 * while an owner writes to them.
 */
export const hasForeignWal = (path: string): boolean => {
  const before = stateOf(path);
  if (!isForeignNow(path)) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return isForeignNow(path) && stateOf(path) === before;
};
