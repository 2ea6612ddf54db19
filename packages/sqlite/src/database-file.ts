import { statSync } from 'node:fs';
import { hasForeignLog } from './foreign-log.ts';
import { logSize, rewriteLog, rewriteTail, syncLog, withoutLinks } from './log-file.ts';
import type { Database } from './node-sqlite.ts';
import { OwnedDatabase } from './owned-database.ts';
import { takeGuard } from './owner-guard.ts';
import { sqliteFailureOf } from './sqlite-failure.ts';
import { whileAlone } from './while-alone.ts';

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
  | { readonly kind: 'missing' }
  | { readonly kind: 'cannot-open' }
  | { readonly kind: 'locked' }
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
export const hasItsTable = (database: Database): boolean => {
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
export const isCutShort = (database: Database, path: string): boolean => {
  const pages = readInteger(database, 'PRAGMA page_count');
  return statSync(path).size < pages * readInteger(database, 'PRAGMA page_size');
};

/** What is known of a file before it is opened. */
export type Expected = {
  /** Whether it may be a new one. */
  readonly mayBeNew: boolean;
  /** Whether a sync of it failed in this process, and what was written since must be written again. */
  readonly mustRewrite: boolean;
};

/** Why a file is neither a store of this version or an older one, nor a new one that may be there. */
export const unusableBecause = (
  database: Database,
  { mayBeNew }: Pick<Expected, 'mayBeNew'>,
): UnusableFile | undefined => {
  const application = readInteger(database, 'PRAGMA application_id');
  const version = readInteger(database, 'PRAGMA user_version');
  const objects = readInteger(database, 'SELECT count(*) FROM sqlite_schema');
  const isNew = application === 0 && version === 0 && objects === 0;
  if (isNew && !mayBeNew) return { kind: 'replaced' };
  if (application !== applicationId && !isNew) return { kind: 'not-a-plant-store' };
  if (version > schemaVersion) return { kind: 'schema-newer', version };
  return undefined;
};

const alteredTable = (database: Database): UnusableFile | undefined => {
  if (!hasItsTable(database)) return { kind: 'damaged' };
  const by = alterationOf(database);
  return by === undefined ? undefined : { kind: 'table-altered', by };
};

const makeOurs = (database: Database): void => {
  database.exec('PRAGMA journal_mode = WAL');
  // FULL: a commit returns once it is on the disk; with NORMAL a power cut loses acknowledged plants.
  database.exec('PRAGMA synchronous = FULL');
  const version = readInteger(database, 'PRAGMA user_version');
  if (version < schemaVersion) migrate(database, version);
};

/** Begins to use the log, with locks that several programs can share: the first of them decides. */
const recoverLog = (database: Database): void =>
  database.exec('SELECT count(*) FROM sqlite_schema');

/** Makes durable what SQLite finds in the log, before a plant of it is served: it may be in memory alone. */
const makeLogDurable = (database: Database, path: string, mustBeAlone: boolean): void => {
  const alone = whileAlone(database, () => {
    try {
      rewriteLog(path);
      rewriteTail(path);
      syncLog(path);
    } catch (thrown) {
      // Closing the database syncs the log and moves it into the file: this sync must not be an empty one.
      rewriteLog(path);
      throw thrown;
    }
  });
  if (alone.kind === 'done') return;
  if (mustBeAlone) throw alone.cause;
  // Other programs can still read, and move the log into the file, but not write to the log.
  database.exec('BEGIN IMMEDIATE');
  try {
    rewriteLog(path);
    syncLog(path);
  } finally {
    database.exec('ROLLBACK');
  }
};

/**
 * Whether another connection has a file of several names: it may be under another name, with another log. Of the same
 * process, it makes reading fail, because the two share what SQLite keeps of the log in memory.
 */
const isOpenUnderAnotherName = (database: Database, path: string): boolean => {
  if (statSync(path).nlink < 2) return false;
  try {
    recoverLog(database);
    return whileAlone(database, () => {}).kind === 'busy';
  } catch (thrown) {
    if (sqliteFailureOf(thrown) === 'input-output') return true;
    throw thrown;
  }
};

/** How long a commit waits for another program that writes, in milliseconds. */
const busyTimeoutMs = 2_000;

const prepareFile = (
  database: OwnedDatabase,
  path: string,
  { mayBeNew, mustRewrite, hadLog }: Expected & { readonly hadLog: boolean },
): UnusableFile | undefined => {
  if (isOpenUnderAnotherName(database, path)) return { kind: 'locked' };
  recoverLog(database);
  if (hadLog) makeLogDurable(database, path, mustRewrite);
  const unusable = unusableBecause(database, { mayBeNew });
  if (unusable !== undefined) return unusable;
  // Pages that are still in the log count, too, and need not be in the file.
  if (!hadLog && isCutShort(database, path)) return { kind: 'damaged' };
  makeOurs(database);
  database.schemaCookie = readInteger(database, 'PRAGMA schema_version');
  const altered = alteredTable(database);
  if (altered !== undefined) return altered;
  syncLog(path);
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return undefined;
};

const openOwned = (
  file: string,
  guard: Database,
  expected: Expected,
): OwnedDatabase | UnusableFile => {
  // SQLite would move it into the file.
  if (hasForeignLog(file)) return { kind: 'log-of-another-file', log: `${file}-wal` };
  const hadLog = logSize(file) > 0;
  const database = new OwnedDatabase(file, guard);
  try {
    const unusable = prepareFile(database, file, { ...expected, hadLog });
    if (unusable === undefined) return database;
    database.close();
    return unusable;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
};

/**
 * Opens a plant store's file as its one owner, and makes or migrates its schema. Other programs can read the file
 * meanwhile. Throws what node:sqlite throws; leaves nothing open then, and no content changed in a file that is not ours.
 * Nothing but SQLite opens and closes the file, except while no other connection has it: closing it would give up the
 * locks that every connection of this process has on it (sqlite.org/howtocorrupt.html §2.2).
 */
export const openDatabaseFile = (
  path: string,
  expected: Expected,
): OwnedDatabase | UnusableFile => {
  const file = withoutLinks(path);
  const found = statSync(file, { throwIfNoEntry: false });
  // SQLite would make files beside it.
  if (found !== undefined && !found.isFile()) return { kind: 'cannot-open' };
  const guard = takeGuard(file);
  try {
    const opened = openOwned(file, guard, expected);
    if ('kind' in opened && guard.isOpen) guard.close();
    return opened;
  } catch (thrown) {
    if (guard.isOpen) guard.close();
    throw thrown;
  }
};
