import { statSync } from 'node:fs';
import type { NewPlant } from '@plantstore/core';
import { columnNames, declarationOf, firstNames, laterNames } from './columns.ts';
import type { Database } from './connection.ts';
import type { Fault } from './errors.ts';

/** The schema version (PRAGMA user_version). A later column does not change it, so that an older program opens the file again. */
export const schemaVersion = 1;

/** "Plnt" in ASCII, which identifies a plant store (PRAGMA application_id). */
const applicationId = 0x506c6e74;

/** Returns why a file is not a plant store of this or an older version, nor a permitted new file. */
export function findUnusable(database: Database, mayBeNew: boolean): Fault | undefined {
  const application = database.read('PRAGMA application_id');
  const version = Number(database.read('PRAGMA user_version'));
  const objects = database.read('SELECT count(*) FROM sqlite_schema');
  const isNew = application === 0 && version === 0 && objects === 0;
  if (isNew && !mayBeNew) return { kind: 'empty' };
  if (application !== applicationId && !isNew) return { kind: 'not-a-plant-store' };
  const supported = schemaVersion;
  return version > supported ? { kind: 'schema-newer', version, supported } : undefined;
}

/** Returns why inserts into the table may not do what this package expects. */
export function findAlteration(database: Database): Fault | undefined {
  if (!hasExpectedTable(database)) return { kind: 'table-altered', isReadable: true };
  const by = findTriggerOrUniqueIndex(database);
  return by === undefined ? undefined : { kind: 'table-altered', by, isReadable: true };
}

/** Creates the table, or adds the missing columns to one of an earlier version, in a transaction. */
export function migrate(database: Database): void {
  const changes = changesOf(database);
  database.exec([changes.length > 0 ? 'BEGIN IMMEDIATE' : 'BEGIN', ...changes].join('; '));
}

/** Returns the columns that hold members of a plant, and the names of the others: of another program, or a newer version. */
export function findColumns(database: Database) {
  const sql = `SELECT name, name || ' ' || type || iif(pk = 1, ' PRIMARY KEY', '') AS declaration
    FROM pragma_table_xinfo('plants')`;
  const rows = database.prepare(sql).all();
  const found = new Map(rows.map(({ name, declaration }) => [name, declaration]));
  const isMember = (name: keyof NewPlant) =>
    found.get(name) === declarationOf(name).replace(' NOT NULL', '');
  const members = columnNames.filter(isMember);
  for (const name of members) found.delete(name);
  return { members, others: [...found.keys()].map(String) };
}

/** Whether every plant can be read from the table in the order of the ids, also if another program created it. */
export function hasPlantColumns(database: Database): boolean {
  const sql = `SELECT (SELECT strict FROM pragma_table_list('plants'))
    AND (SELECT max(pk) FROM pragma_table_xinfo('plants')) = 1`;
  const { members } = findColumns(database);
  return firstNames.every((name) => members.includes(name)) && database.read(sql) === 1;
}

/** Returns the columns of later versions that the table does not have. SQLite ignores the case of names. */
export function findMissing(database: Database, later = laterNames) {
  const { members, others } = findColumns(database);
  const found = [...members, ...others].map((name) => name.toLowerCase());
  return later.filter((name) => !found.includes(name));
}

/**
 * Whether a database file is shorter than its header states, as after an interrupted copy. SQLite opens a
 * file whose last page is truncated without an error, and plants are missing.
 */
export function isTruncated(database: Database, path: string): boolean {
  const pages = Number(database.read('PRAGMA page_count'));
  return statSync(path).size < pages * Number(database.read('PRAGMA page_size'));
}

/** Returns the statements that create the table, or add the missing columns to one of an earlier version. */
function changesOf(database: Database): readonly string[] {
  if (database.read('PRAGMA user_version') === 0) {
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
}

/** Whether this package created the table. Another program may have added columns, or renamed it and back. */
function hasExpectedTable(database: Database): boolean {
  const first = firstNames.map(declarationOf).join(', ');
  const later = laterNames.map((name) => `(?=.*, ${declarationOf(name)}[,)])`).join('');
  const declaration = `^${later}CREATE TABLE "?plants"? \\(${first}[,)].*\\bSTRICT$`;
  const sql = database.read("SELECT sql FROM sqlite_schema WHERE name = 'plants'");
  return new RegExp(declaration, 's').test(String(sql));
}

/** Returns the name of a trigger or unique index on the table: with either, an insert can do nothing. */
function findTriggerOrUniqueIndex(database: Database): string | undefined {
  const sql = `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'plants' COLLATE NOCASE
    UNION ALL SELECT name FROM pragma_index_list('plants') WHERE "unique"`;
  const name = database.read(sql);
  return name === undefined ? undefined : String(name);
}
