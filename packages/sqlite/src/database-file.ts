import { statSync } from 'node:fs';
import { hasForeignLog } from './foreign-log.ts';
import { logSize, rewriteLog, syncLog, withoutLinks } from './log-file.ts';
import type { Database } from './node-sqlite.ts';
import { OwnedDatabase } from './owned-database.ts';

/** "Plnt": marks a file as ours (PRAGMA application_id). */
const applicationId = 0x506c6e74;

/** Each statement list takes a file from the schema version of its index to the next one. */
const migrations = [
  'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
] as const;

/** The schema version that this package writes (PRAGMA user_version). */
export const schemaVersion = migrations.length;

/** A file that SQLite would open, but that is not ours to write, or not whole. */
export type UnusableFile =
  | { readonly kind: 'cannot-open' }
  | { readonly kind: 'damaged' }
  | { readonly kind: 'replaced' }
  | { readonly kind: 'log-of-another-file'; readonly log: string }
  | { readonly kind: 'schema-newer'; readonly version: number }
  | { readonly kind: 'not-a-plant-store' }
  | { readonly kind: 'table-altered'; readonly by: string };

const readInteger = (database: Database, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0]);

const migrate = (database: Database, from: number): void => {
  database.exec('BEGIN IMMEDIATE');
  for (const migration of migrations.slice(from)) database.exec(migration);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
  database.exec('COMMIT');
};

/** In a table that was made otherwise, an id could be there twice, or a result be wrong. */
const hasItsTable = (database: Database): boolean => {
  const sql = "SELECT sql FROM sqlite_schema WHERE name = 'plants'";
  // A migration that alters the table changes this, too.
  return database.prepare(sql).get()?.['sql'] === migrations[0];
};

/** The name of a trigger or an index on the table: either can make an insert do nothing, or fail. */
const alterationOf = (database: Database): string | undefined => {
  const sql =
    "SELECT name FROM sqlite_schema WHERE tbl_name = 'plants' COLLATE NOCASE AND type IN ('trigger', 'index')";
  const name = database.prepare(sql).get()?.['name'];
  return name === undefined ? undefined : String(name);
};

/**
 * Whether a database file has fewer bytes than its header says, as a copy that broke off has. Where only
 * the last page is cut, SQLite opens the file and misses plants without a word.
 */
const isCutShort = (database: Database, path: string): boolean => {
  const pages = readInteger(database, 'PRAGMA page_count');
  return statSync(path).size < pages * readInteger(database, 'PRAGMA page_size');
};

type Found = { readonly mayBeNew: boolean; readonly hadLog: boolean };

const prepareOwnFile = (
  database: Database,
  path: string,
  { mayBeNew, hadLog }: Found,
): UnusableFile | undefined => {
  const application = readInteger(database, 'PRAGMA application_id');
  const version = readInteger(database, 'PRAGMA user_version');
  const objects = readInteger(database, 'SELECT count(*) FROM sqlite_schema');
  const isNew = application === 0 && version === 0 && objects === 0;
  if (isNew && !mayBeNew) return { kind: 'replaced' };
  if (application !== applicationId && !isNew) return { kind: 'not-a-plant-store' };
  if (version > schemaVersion) return { kind: 'schema-newer', version };
  // Pages that are still in the log count, too, and need not be in the file.
  if (!hadLog && isCutShort(database, path)) return { kind: 'damaged' };
  database.exec('PRAGMA journal_mode = WAL');
  // FULL: a commit returns once it is on the disk; with NORMAL a power cut loses acknowledged plants.
  database.exec('PRAGMA synchronous = FULL');
  // Pages: a checkpoint every 64 MiB of log, so that few commits wait for one.
  database.exec('PRAGMA wal_autocheckpoint = 16384');
  if (version < schemaVersion) migrate(database, version);
  if (!hasItsTable(database)) return { kind: 'damaged' };
  const by = alterationOf(database);
  return by === undefined ? undefined : { kind: 'table-altered', by };
};

/** Plants that SQLite finds in the log may be in memory alone: they become durable here, before one is served. */
const prepareFile = (
  database: OwnedDatabase,
  path: string,
  found: Found,
): UnusableFile | undefined => {
  // One owner: another process gets "database is locked" at once, also for reading.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('SELECT count(*) FROM sqlite_schema');
  try {
    rewriteLog(path);
    database.rewriteTail();
    const unusable = prepareOwnFile(database, path, found);
    if (unusable === undefined) syncLog(path);
    return unusable;
  } catch (thrown) {
    // Closing the database syncs the log and moves it into the file: this sync must not be an empty one.
    rewriteLog(path);
    throw thrown;
  }
};

/**
 * Opens a plant store's file as its one owner, and makes or migrates its schema. Throws what
 * node:sqlite throws; leaves nothing open then, and no content changed in a file that is not ours.
 * Nothing opens the file before SQLite has its lock, or closes it earlier than SQLite: that would give up the
 * lock that another connection of this process has on it (sqlite.org/howtocorrupt.html §2.2).
 */
export const openDatabaseFile = (path: string, mayBeNew: boolean): OwnedDatabase | UnusableFile => {
  const file = withoutLinks(path);
  const found = statSync(file, { throwIfNoEntry: false });
  // SQLite would make files beside it. A folder it refuses by itself.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) {
    return { kind: 'cannot-open' };
  }
  // SQLite would move it into the file.
  if (hasForeignLog(file)) return { kind: 'log-of-another-file', log: `${file}-wal` };
  const hadLog = logSize(file) > 0;
  const database = new OwnedDatabase(file);
  try {
    const foreign = prepareFile(database, file, { mayBeNew, hadLog });
    if (foreign === undefined) return database;
    database.close();
    return foreign;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
};
