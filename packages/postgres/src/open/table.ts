import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, declarationOf, firstNames, quoted } from './columns.ts';
import type { DatabaseUrl } from './database-url.ts';
import { describeThrown, type OpenPostgresError, sqlStateOf } from './errors.ts';
import type { Session } from './session.ts';
import { insertStatement, readStatement } from '../commit/statements.ts';

const createTable = (name: string): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${columnNames.map(declarationOf).join(', ')})`;

/**
 * Whether the table `t` and its partitions are permanent and logged. Inheritance children are refused: ids are unique
 * only within each table, and the parent also returns the rows of its children.
 */
export const isDurable = `t.relpersistence = 'p' AND NOT EXISTS (SELECT 1
    FROM pg_partition_tree(t.oid) p JOIN pg_class c ON c.oid = p.relid WHERE c.relpersistence <> 'p')
  AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = t.oid AND t.relkind <> 'p')`;

/** What a table is that is not durable. */
export const notDurable =
  'UNLOGGED, TEMPORARY or inherited from, so that plants could be lost or duplicated';

const findTable = `SELECT n.nspname, ${isDurable}
  FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace WHERE t.oid = to_regclass('plants')`;

// The name, the declaration without the quotes of quote_all_identifiers, and whether an insert must have a value: a domain
// can refuse NULL, or have a default.
const findColumns = `SELECT a.attname, concat_ws(' ', a.attname,
    replace(format_type(a.atttypid, a.atttypmod), '"', ''),
    CASE WHEN EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary
      AND i.indimmediate AND i.indkey::text = a.attnum::text) THEN 'PRIMARY KEY'
      WHEN a.attnotnull THEN 'NOT NULL' END),
    (a.attnotnull OR t.typnotnull) AND NOT a.atthasdef AND a.attidentity = '' AND t.typdefault IS NULL
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`;

const findMissingPrivileges = `SELECT 'SELECT, INSERT ON ' || $1::text
    WHERE NOT (has_table_privilege($1, 'SELECT') AND has_table_privilege($1, 'INSERT'))
  UNION ALL SELECT 'EXECUTE ON FUNCTION ' || oid::regprocedure FROM pg_proc
    WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype
      AND NOT has_function_privilege(oid, 'EXECUTE')`;

const findSchema = `SELECT current_schema(), current_setting('search_path')`;

// IF NOT EXISTS is not atomic: another process can create the table at the same time.
const concurrentCreateCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];
// Also the exception of an event trigger, which can forbid DDL.
const deniedCodes = ['42501', '3F000', '25006', 'P0001'];

// A generated column; a rule on INSERT.
const unsupportedTableCodes = ['428C9', '0A000'];

const maxAttempts = 10;

/** Returns the first column of the result. */
const firstColumnOf = async (session: Session, text: string, table: string) =>
  (await session.query({ text, values: [table] })).map(([first]) => first ?? '');

const grant = (privileges: string, role: string): string =>
  `GRANT ${privileges} TO ${quoted(role)};`;

const foreign = (database: string, found: string): OpenPostgresError => ({
  kind: 'table-foreign',
  message: `${database} has a table plants with another definition (${found}), which was not changed: name another database in the URL, or another schema with options=-csearch_path=…`,
});

const isMember = (name: unknown): name is keyof NewPlant => columnNames.some((one) => one === name);

/** Returns the names of columns that hold no member of a plant: of another program, or a newer version. */
export const findUnknownColumns = async (session: Session): Promise<readonly string[]> =>
  (await firstColumnOf(session, findColumns, 'plants')).filter((name) => !isMember(name));

/** Adds columns to the table of an earlier version. */
export const addColumns = async (
  session: Session,
  { user, database }: DatabaseUrl,
  table: string,
  names: readonly (keyof NewPlant)[],
): Promise<OpenPostgresError | undefined> => {
  const added = names.map((name) => `ADD COLUMN IF NOT EXISTS ${declarationOf(name)}`);
  const alter = `ALTER TABLE ${table} ${added.join(', ')};`;
  // While it waits for a reader of the table, such as pg_dump, the creates of other servers wait, too.
  const text = `DO $alter$ BEGIN SET LOCAL lock_timeout = '100ms'; ${alter} END $alter$`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await session.query({ text });
      return undefined;
    } catch (cause) {
      const code = sqlStateOf(cause) ?? '';
      const isLocked = code === '55P03';
      if (isLocked && attempt < maxAttempts) continue;
      if (!isLocked && !deniedCodes.includes(code)) throw cause;
      const message = `the role ${user} cannot add a column to the table plants in ${database} (${describeThrown(cause)}); when no other session has the table locked, let its owner run: ${alter}`;
      return { kind: 'table-denied', message, cause };
    }
  }
};

/** Checks the columns of the table, and adds those of later versions that it does not have. */
const checkColumns = async (
  session: Session,
  url: DatabaseUrl,
  table: string,
): Promise<OpenPostgresError | undefined> => {
  const rows = await session.query({ text: findColumns, values: [table] });
  const isUsable = rows.every(([name, declaration, needsValue]) =>
    isMember(name) ? declaration === declarationOf(name) : needsValue === 'f',
  );
  const missing = columnNames.filter((name) => rows.every((row) => row[0] !== name));
  if (!isUsable || missing.some((name) => firstNames.includes(name)))
    return foreign(url.database, rows.map((row) => row[1]).join(', '));
  return missing.length > 0 ? addColumns(session, url, table, missing) : undefined;
};

/** Plans the statements with EXPLAIN, which finds faults that the catalog does not show. */
const findStatementFault = async (session: Session, table: string): Promise<string | undefined> => {
  const plants = [{ id: 0n, name: '' }];
  try {
    for (const statement of [insertStatement(table, plants, 0), readStatement(table, plants)]) {
      await session.query({ ...statement, text: `EXPLAIN ${statement.text}` });
    }
    return undefined;
  } catch (thrown) {
    if (!unsupportedTableCodes.includes(sqlStateOf(thrown) ?? '')) throw thrown;
    return describeThrown(thrown);
  }
};

const checkTable = async (
  session: Session,
  url: DatabaseUrl,
  table: string,
  isLogged: boolean,
): Promise<OpenPostgresError | undefined> => {
  const { user, database } = url;
  if (!isLogged) return foreign(database, notDurable);
  const unusable = await checkColumns(session, url, table);
  if (unusable !== undefined) return unusable;
  const missing = await firstColumnOf(session, findMissingPrivileges, table);
  if (missing.length > 0) {
    const grants = missing.map((privileges) => grant(privileges, user)).join(' ');
    const message = `the role ${user} may not use the table plants in ${database}; let its owner run: ${grants}`;
    return { kind: 'table-denied', message };
  }
  const fault = await findStatementFault(session, table);
  return fault === undefined ? undefined : foreign(database, fault);
};

const mayNotCreate = async (
  session: Session,
  { user, database }: DatabaseUrl,
  cause: unknown,
): Promise<OpenPostgresError> => {
  const [[schema, searchPath] = []] = await session.query({ text: findSchema });
  if (typeof schema !== 'string') {
    const message = `${database} has no schema that the role ${user} may use for the table plants, search_path is ${searchPath}; let its owner create one with CREATE SCHEMA, or, for an existing schema, run: ${grant('USAGE ON SCHEMA …', user)}`;
    return { kind: 'table-denied', message, cause };
  }
  const table = `${quoted(schema)}.plants`;
  const message = `the role ${user} may not create the table plants in ${database}; let its owner run: ${createTable(table)}; ${grant(`SELECT, INSERT ON ${table}`, user)}`;
  return { kind: 'table-denied', message, cause };
};

/**
 * Creates the table if it does not exist, and adds the columns that one of an earlier version does not have. Throws the
 * exceptions of the driver.
 *
 * @returns the table name with its schema, quoted, which does not depend on the search path of a pooled session
 */
export const prepareTable = async (
  session: Session,
  url: DatabaseUrl,
): Promise<Result<string, OpenPostgresError>> => {
  for (let attempt = 1; ; attempt += 1) {
    const [found] = await session.query({ text: findTable });
    if (found !== undefined) {
      const table = `${quoted(found[0] ?? '')}.plants`;
      const error = await checkTable(session, url, table, found[1] === 't');
      return error === undefined ? ok(table) : err(error);
    }
    try {
      await session.query({ text: createTable('plants') });
    } catch (thrown) {
      const code = sqlStateOf(thrown) ?? '';
      if (deniedCodes.includes(code)) return err(await mayNotCreate(session, url, thrown));
      if (!concurrentCreateCodes.includes(code) || attempt === maxAttempts) throw thrown;
    }
  }
};
