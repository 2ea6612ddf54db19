import { statSync } from 'node:fs';
import type { NewPlant } from '@plantstore/core';
import { columnNames, declarationOf, firstNames, laterNames } from './columns.ts';
import { isMountPoint } from './mount-point.ts';
import type { Database } from './node-sqlite.ts';
import { OwnedDatabase } from './owned-database.ts';
import { acquireOwnerLock } from './owner-lock.ts';
import { withExclusiveLock } from './exclusive-lock.ts';
import { hasForeignWal } from './foreign-wal.ts';
import { walSize, rewriteWal, rewriteTail, syncWal, resolveLinks } from './wal-file.ts';

/** "Plnt" in ASCII, which identifies a plant store (PRAGMA application_id). */
const applicationId = 0x506c6e74;

/** The schema version (PRAGMA user_version). A later column does not change it, so that an older program opens the file again. */
export const schemaVersion = 1;

/** Reason why a file cannot be used as a plant store, although SQLite reported no error. */
export type UnusableFile =
  | { readonly kind: 'missing' | 'empty' | 'cannot-open' | 'mount-point' | 'damaged' }
  | { readonly kind: 'not-a-plant-store' }
  | { readonly kind: 'hard-links'; readonly hasWal: boolean }
  | { readonly kind: 'wal-of-another-file'; readonly wal: string }
  | { readonly kind: 'schema-newer'; readonly version: number }
  | { readonly kind: 'table-altered'; readonly by?: string; readonly isReadable?: false };

const readInteger = (database: Database, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0]);

/** Returns the columns that hold members of a plant, and the names of the others: of another program, or a newer version. */
export const findColumns = (database: Database) => {
  const sql = `SELECT name, name || ' ' || type || iif(pk = 1, ' PRIMARY KEY', '') AS declaration
    FROM pragma_table_xinfo('plants')`;
  const rows = database.prepare(sql).all();
  const found = new Map(rows.map(({ name, declaration }) => [name, declaration]));
  const isMember = (name: keyof NewPlant) =>
    found.get(name) === declarationOf(name).replace(' NOT NULL', '');
  const members = columnNames.filter(isMember);
  for (const name of members) found.delete(name);
  return { members, others: [...found.keys()].map(String) };
};

/** Whether every plant can be read from the table in the order of the ids, also if another program created it. */
export const hasPlantColumns = (database: Database): boolean => {
  const sql = `SELECT (SELECT strict FROM pragma_table_list('plants'))
    AND (SELECT max(pk) FROM pragma_table_xinfo('plants')) = 1`;
  const { members } = findColumns(database);
  return firstNames.every((name) => members.includes(name)) && readInteger(database, sql) === 1;
};

/** Returns the columns of later versions that the table does not have. SQLite ignores the case of names. */
export const findMissing = (database: Database, later = laterNames) => {
  const { members, others } = findColumns(database);
  const found = [...members, ...others].map((name) => name.toLowerCase());
  return later.filter((name) => !found.includes(name));
};

/** Returns the statements that create the table, or add the missing columns to one of an earlier version. */
const changesOf = (database: Database): readonly string[] => {
  if (readInteger(database, 'PRAGMA user_version') === 0) {
    return [
      `CREATE TABLE plants (${columnNames.map(declarationOf).join(', ')}) STRICT`,
      `PRAGMA application_id = ${applicationId}`,
      `PRAGMA user_version = ${schemaVersion}`,
    ];
  }
  // Another table is reported later, and not changed.
  if (!hasPlantColumns(database)) return [];
  const missing = findMissing(database).map(declarationOf);
  return missing.map((column) => `ALTER TABLE plants ADD COLUMN ${column}`);
};

/** Whether this package created the table. Another program may have added columns, or renamed it and back. */
const hasExpectedTable = (database: Database): boolean => {
  const sql = "SELECT sql FROM sqlite_schema WHERE name = 'plants'";
  const first = firstNames.map(declarationOf).join(', ');
  const later = laterNames.map((name) => `(?=.*, ${declarationOf(name)}[,)])`).join('');
  const declaration = `^${later}CREATE TABLE "?plants"? \\(${first}[,)].*\\bSTRICT$`;
  return new RegExp(declaration, 's').test(String(database.prepare(sql).get()?.['sql']));
};

/** Returns the name of a trigger or unique index on the table: with either, an insert can do nothing. */
const findTriggerOrUniqueIndex = (database: Database): string | undefined => {
  const sql = `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'plants' COLLATE NOCASE
    UNION ALL SELECT name FROM pragma_index_list('plants') WHERE "unique"`;
  const name = database.prepare(sql).get()?.['name'];
  return name === undefined ? undefined : String(name);
};

/**
 * Whether a database file is shorter than its header states, as after an interrupted copy. SQLite opens a
 * file whose last page is truncated without an error, and plants are missing.
 */
export const isTruncated = (database: Database, path: string): boolean => {
  const pages = readInteger(database, 'PRAGMA page_count');
  return statSync(path).size < pages * readInteger(database, 'PRAGMA page_size');
};

/** Expected state of a file that is opened. */
export type Expected = {
  /** Whether the file may be new. */
  readonly mayBeNew: boolean;
  /** Whether a sync of the file failed in this process, so that its WAL file must be rewritten. */
  readonly mustRewrite: boolean;
};

/** Returns why a file is not a plant store of this or an older version, nor a permitted new file. */
export const findUnusable = (database: Database, mayBeNew: boolean): UnusableFile | undefined => {
  const application = readInteger(database, 'PRAGMA application_id');
  const version = readInteger(database, 'PRAGMA user_version');
  const objects = readInteger(database, 'SELECT count(*) FROM sqlite_schema');
  const isNew = application === 0 && version === 0 && objects === 0;
  if (isNew && !mayBeNew) return { kind: 'empty' };
  if (application !== applicationId && !isNew) return { kind: 'not-a-plant-store' };
  if (version > schemaVersion) return { kind: 'schema-newer', version };
  return undefined;
};

/** Returns why inserts into the table may not do what this package expects. */
export const findAlteration = (database: Database): UnusableFile | undefined => {
  if (!hasExpectedTable(database)) return { kind: 'table-altered' };
  const by = findTriggerOrUniqueIndex(database);
  return by === undefined ? undefined : { kind: 'table-altered', by };
};

/** Creates or migrates the schema, and returns why the table cannot be used, which is then unchanged. */
const configureAndMigrate = (database: OwnedDatabase): UnusableFile | undefined => {
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the WAL file after each commit; with NORMAL a power cut loses acknowledged plants.
  database.exec('PRAGMA synchronous = FULL');
  const changes = changesOf(database);
  database.exec([changes.length > 0 ? 'BEGIN IMMEDIATE' : 'BEGIN', ...changes].join('; '));
  database.schemaCookie = readInteger(database, 'PRAGMA schema_version');
  const altered = findAlteration(database);
  database.exec(altered === undefined ? 'COMMIT' : 'ROLLBACK');
  return altered;
};

/** Syncs commits that SQLite recovered from the WAL file: they may exist only in the page cache. */
const makeWalDurable = (database: OwnedDatabase, path: string, requireExclusive: boolean): void => {
  const busy = withExclusiveLock(database, () => {
    rewriteWal(path);
    rewriteTail(database, path);
    syncWal(path);
  });
  if (busy === undefined) return;
  if (requireExclusive) throw busy;
  // Other programs can still read and run checkpoints, but not write to the WAL file. The caller syncs it.
  database.exec('BEGIN IMMEDIATE');
  try {
    rewriteWal(path);
  } finally {
    database.exec('ROLLBACK');
  }
};

/** Time that a commit waits for a write lock, in milliseconds. */
export const busyTimeoutMs = 2_000;

const prepareFile = (
  database: OwnedDatabase,
  path: string,
  { mayBeNew, mustRewrite, hadWal }: Expected & { readonly hadWal: boolean },
): UnusableFile | undefined => {
  // Runs WAL recovery, in normal locking mode, so that other programs can share the file.
  database.exec('SELECT count(*) FROM sqlite_schema');
  if (hadWal) makeWalDurable(database, path, mustRewrite);
  const unusable = findUnusable(database, mayBeNew);
  if (unusable !== undefined) return unusable;
  // With a WAL file, the last pages can be in it alone.
  if (!hadWal && isTruncated(database, path)) return { kind: 'damaged' };
  const altered = configureAndMigrate(database);
  if (altered !== undefined) return altered;
  syncWal(path);
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return undefined;
};

/** Returns why the WAL file and the owner lock beside a path may not be those that another path of the file has. */
export const findOtherPath = (file: string): UnusableFile | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.nlink > 1)
    return { kind: 'hard-links', hasWal: walSize(file) > 0 };
  return isMountPoint(file) ? { kind: 'mount-point' } : undefined;
};

/**
 * Opens a database file as its only owner, and creates or migrates its schema. Other programs can read the file.
 * Throws the exceptions of node:sqlite. After an error, nothing is open, and the content of a file that is not a plant
 * store is unchanged. Only SQLite closes the file while it is open: a POSIX close releases all
 * locks of this process on the file (sqlite.org/howtocorrupt.html §2.2).
 */
export const openDatabaseFile = (
  path: string,
  expected: Expected,
): OwnedDatabase | UnusableFile => {
  const file = resolveLinks(path);
  // SQLite would create files beside a device or a pipe.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) return { kind: 'cannot-open' };
  const ownerLock = findOtherPath(file) ?? acquireOwnerLock(file);
  if ('kind' in ownerLock) return ownerLock;
  const hadWal = walSize(file) > 0;
  let database: OwnedDatabase | undefined;
  let unusable: UnusableFile | 'unknown' | undefined = 'unknown';
  try {
    // SQLite would copy its pages into the database file.
    if (hasForeignWal(file)) return { kind: 'wal-of-another-file', wal: `${file}-wal` };
    database = new OwnedDatabase(file, ownerLock);
    unusable = prepareFile(database, file, { ...expected, hadWal });
    return unusable ?? database;
  } catch (thrown) {
    // After a checkpoint of pages that could not be rewritten, a power cut would lose them.
    if (hadWal) database?.keepWal();
    throw thrown;
  } finally {
    if (unusable !== undefined) (database ?? ownerLock).close();
  }
};
