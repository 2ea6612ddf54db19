import { statSync } from 'node:fs';
import type { NewPlant } from '@plantstore/core';
import { columnNames, declarationOf, firstNames, laterNames } from './columns.ts';
import type { Database } from './connection.ts';
import type { Fault } from './errors.ts';

/** The schema version (PRAGMA user_version). A later column keeps it for older programs. */
export const schemaVersion = 1;

/** "Plnt" in ASCII, which identifies a plant store (PRAGMA application_id). */
const applicationId = 0x506c6e74;

/**
 * Returns why plants cannot be read. A table or view with the first columns is enough; the numbers
 * of the header decide nothing else, because other tools lose them.
 */
export function findUnreadable(database: Database): Fault | undefined {
  const { members, others } = findColumns(database);
  const isOurs = database.read('PRAGMA application_id') === applicationId;
  const version = Number(database.read('PRAGMA user_version'));
  if (isOurs && version > schemaVersion && others.length > 0)
    return { kind: 'schema-newer', detail: String(version) };
  if (firstNames.every((name) => members.includes(name))) return undefined;
  if (!isOurs) return { kind: 'not-a-plant-store' };
  return { kind: 'table-altered', detail: 'copy the plants with sqlite3, or restore a backup' };
}

/** Returns why inserts into the table may not do what this package expects. */
export function findAlteration(database: Database): Fault | undefined {
  // With a trigger or a unique index, an insert can do nothing.
  const by =
    database.read(`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'plants'
      COLLATE NOCASE UNION ALL SELECT name FROM pragma_index_list('plants') WHERE "unique"`);
  if (by === undefined && isOwnTable(database)) return undefined;
  // The index of a constraint cannot be dropped.
  const mayDrop = by !== undefined && !String(by).startsWith('sqlite_autoindex_');
  const drop = mayDrop ? `drop its trigger or unique index "${String(by)}", or ` : '';
  const detail = `${drop}export the plants, and import them into a new file`;
  return { kind: 'table-altered', detail };
}

/**
 * Creates the table or adds missing columns, and writes the numbers, also if the file has them: it
 * fails where a create would. Leaves a transaction open.
 */
export function migrate(database: Database): void {
  database.exec(['BEGIN IMMEDIATE', ...changesOf(database)].join('; '));
}

/** Whether this package created the table. Another program may have added columns. */
export function isOwnTable(database: Database): boolean {
  const missing = findMissing(database);
  const later = laterNames.filter((name) => !missing.includes(name));
  const hasLater = later.map((name) => `(?=.*, ${declarationOf(name)}[,)])`).join('');
  const first = firstNames.map(declarationOf).join(', ');
  const sql = database.read("SELECT sql FROM sqlite_schema WHERE name = 'plants'");
  const pattern = `^${hasLater}CREATE TABLE "?plants"? \\(${first}[,)].*\\bSTRICT$`;
  return new RegExp(pattern, 's').test(String(sql));
}

/** Returns the columns of members, and the others' names: of another program or a newer version. */
export function findColumns(database: Database) {
  const sql = `SELECT name, name || ' ' || type || iif(pk = 1, ' PRIMARY KEY', '') AS declaration
    FROM pragma_table_xinfo('plants')`;
  const members: (keyof NewPlant)[] = [];
  const others: string[] = [];
  for (const { name, declaration } of database.prepare(sql).all()) {
    const lower = String(name).toLowerCase();
    const member = columnNames.find((one) =>
      firstNames.includes(one)
        ? one === lower
        : declaration === declarationOf(one).replace(' NOT NULL', ''),
    );
    if (member === undefined) others.push(String(name));
    else members.push(member);
  }
  return { members, others };
}

/** Returns the columns of later versions that the table lacks. SQLite ignores the case of names. */
function findMissing(database: Database) {
  const { members, others } = findColumns(database);
  const found = [...members, ...others].map((name) => name.toLowerCase());
  return laterNames.filter((name) => !found.includes(name));
}

/** Whether a file is shorter than its header states, as an interrupted copy. SQLite opens it. */
export function isTruncated(database: Database, path: string): boolean {
  const pages = Number(database.read('PRAGMA page_count'));
  return statSync(path).size < pages * Number(database.read('PRAGMA page_size'));
}

/** Whether a file has no content yet. */
export function isNew(database: Database): boolean {
  const sql = `SELECT (SELECT application_id FROM pragma_application_id) = 0
    AND (SELECT user_version FROM pragma_user_version) = 0
    AND (SELECT count(*) FROM sqlite_schema) = 0`;
  return database.read(sql) === 1;
}

/** Returns the statements that make a file one of this version. */
function changesOf(database: Database): readonly string[] {
  const declarations = columnNames.map(declarationOf).join(', ');
  const tables = isNew(database)
    ? [`CREATE TABLE plants (${declarations}) STRICT`]
    : findMissing(database).map((name) => `ALTER TABLE plants ADD COLUMN ${declarationOf(name)}`);
  return [
    ...tables,
    `PRAGMA application_id = ${applicationId}`,
    `PRAGMA user_version = ${schemaVersion}`,
  ];
}
