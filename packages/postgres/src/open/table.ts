import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, declarationOf, firstNames, quoted, type Row } from './columns.ts';
import { type DatabaseUrl, nameOf } from './database-url.ts';
import {
  bypass,
  connectError,
  describeThrown,
  grant,
  type OpenPostgresError,
  sqlStateOf,
} from './errors.ts';
import type { Session } from './session.ts';

/**
 * Creates the table if it does not exist, adds the columns that one of an earlier version does not have, and then calls
 * `findFault`. Throws the exceptions of the driver.
 */
export async function prepareTable(
  session: Session,
  url: DatabaseUrl,
  findFault: typeof findTableFault,
): Promise<Result<PlantsTable, OpenPostgresError>> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await findTable(session, url);
    if (found.isOk()) {
      const fault =
        (await checkColumns(session, found.value)) ?? (await findFault(session, found.value));
      if (fault === undefined) return found;
      return err(fault.kind === 'table-foreign' ? foreign(url, fault.message) : fault);
    }
    if (found.error.kind !== 'table-missing') return found;
    try {
      await session.query({ text: createTable('plants') });
    } catch (thrown) {
      const code = sqlStateOf(thrown) ?? '';
      if (deniedCodes.includes(code)) return err(await mayNotCreate(session, url, thrown));
      if (attempt < maxAttempts && concurrentCreateCodes.includes(code)) continue;
      if (code === '42710') return err(occupied(url.database, describeThrown(thrown)));
      throw thrown;
    }
  }
}

/** A table of plants. */
export type PlantsTable = {
  readonly url: DatabaseUrl;
  /** The name with its schema, quoted, which does not depend on the search path of a pooled session. */
  readonly table: string;
  /** The name with its database, for the operator. */
  readonly shown: string;
  readonly warnings: readonly string[];
};

/** Finds the table on the search path. */
export async function findTable(
  session: Session,
  url: DatabaseUrl,
): Promise<Result<PlantsTable, OpenPostgresError>> {
  const { database, user } = url;
  const [first = [], ...others] = await session.query({ text: plantsOnPath });
  const [schema, obstacle, isSecured, isStandby] = first;
  if (typeof schema !== 'string') {
    const description = `${nameOf(session.address)}, on the search path of the session`;
    return err(connectError(url, [{ reason: 'table-missing', description }]));
  }
  if (typeof obstacle === 'string') return err(occupied(database, obstacle));
  const table = `${quoted(schema)}.plants`;
  const note = isStandby === 't' ? ' (of a standby, which may not have the newest plants)' : '';
  const shown = `${table} in ${database}${note}`;
  const warnings = others.flatMap(([, , , , other]) =>
    typeof other === 'string'
      ? `${shown} is used, and the role ${user} can read ${other}, too: name the schema with options=-csearch_path=… in the URL, or a later start may use another table`
      : [],
  );
  const warning = `row security is active on ${shown}: its policies can refuse plants, and the role ${user} cannot export them; ${bypass(user)}`;
  if (isSecured === 't') warnings.push(warning);
  return ok({ url, table, shown, warnings });
}

/** Finds a fault of the table that makes creates fail or lose plants, and that planning a create does not find. */
export async function findTableFault(
  session: Session,
  { url: { user, database }, table }: PlantsTable,
): Promise<OpenPostgresError | undefined> {
  const query = { text: tableState, values: [table] };
  const [[isReadOnly, fault, lacksPolicy, missing] = []] = await session.query(query);
  if (isReadOnly === 'on') {
    // The next connection is to another server, if there is one.
    session.destroy();
    return { kind: 'standby-only', message: 'the database has become read-only' };
  }
  if (typeof fault === 'string')
    return { kind: 'table-foreign', message: `the table ${table} ${fault}` };
  if (lacksPolicy === 't')
    return denied(
      `the table ${table} has row security without a policy that lets the role ${user} read and insert: create one, or ${bypass(user)}`,
    );
  const grants = (JSON.parse(missing ?? '[]') as readonly string[]).map((one) => grant(one, user));
  if (grants.length === 0) return undefined;
  return denied(
    `the role ${user} may not use the table plants in ${database}; let its owner run: ${grants.join(' ')}`,
  );
}

/** Reads what the columns of a table mean for plants. */
export async function readColumns(session: Session, table: string) {
  const rows = await session.query({ text: tableColumns, values: [table] });
  const isMember = ([name]: Row) => columnNames.some((one) => one === name);
  return {
    definition: rows.map(([, declaration]) => declaration).join(', '),
    /** Names of columns of another program, or a newer version. */
    unknown: rows.filter((row) => !isMember(row)).map(([name]) => name ?? ''),
    missing: columnNames.filter((name) => rows.every((row) => row[0] !== name)),
    isUsable: rows.every((row) => (isMember(row) ? declarations.has(row[1]) : row[2] === 'f')),
    isReadable: rows.every((row) => !isMember(row) || row[3] === 't'),
  };
}

/** Creates the error for a table that is not one of plants. */
export function foreign({ database }: DatabaseUrl, found: string): OpenPostgresError {
  const message = `${database} has a table plants with another definition (${found}), which was not changed: name another database in the URL, or another schema with options=-csearch_path=…`;
  return { kind: 'table-foreign', message };
}

/** Adds columns to the table of an earlier version. */
export async function addColumns(
  session: Session,
  { user, database }: DatabaseUrl,
  table: string,
  names: readonly (keyof NewPlant)[],
): Promise<OpenPostgresError | undefined> {
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
      return { ...denied(message), cause };
    }
  }
}

/** Checks the columns of the table, and adds those of later versions that it does not have. */
async function checkColumns(session: Session, { url, table }: PlantsTable) {
  const { definition, missing, isUsable } = await readColumns(session, table);
  if (!isUsable || missing.some((name) => firstNames.includes(name)))
    return { kind: 'table-foreign', message: definition } as const;
  return missing.length > 0 ? addColumns(session, url, table, missing) : undefined;
}

async function mayNotCreate(session: Session, { user, database }: DatabaseUrl, cause: unknown) {
  const text = "SELECT current_schema(), current_setting('search_path')";
  const [[schema, searchPath] = []] = await session.query({ text });
  const table = `${quoted(schema ?? '')}.plants`;
  const message =
    typeof schema === 'string'
      ? `the role ${user} may not create the table plants in ${database}; let its owner run: ${createTable(table)}; ${grant(`SELECT, INSERT ON ${table}`, user)}`
      : `${database} has no schema that the role ${user} may use for the table plants, search_path is ${searchPath}; let its owner create one with CREATE SCHEMA, or, for an existing schema, run: ${grant('USAGE ON SCHEMA …', user)}`;
  return { ...denied(message), cause };
}

function denied(message: string): OpenPostgresError {
  return { kind: 'table-denied', message };
}

function occupied(database: string, obstacle: string): OpenPostgresError {
  const message = `${database} cannot have a table plants (${obstacle}): rename what has this name, or name another schema with options=-csearch_path=…`;
  return { kind: 'table-foreign', message };
}

function createTable(name: string): string {
  return `CREATE TABLE IF NOT EXISTS ${name} (${columnNames.map(declarationOf).join(', ')})`;
}

const declarations: ReadonlySet<unknown> = new Set(columnNames.map(declarationOf));
// IF NOT EXISTS is not atomic: another process can create the table at the same time.
const concurrentCreateCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];
// Also the exception of an event trigger, which can forbid DDL.
const deniedCodes = ['42501', '3F000', '25006', 'P0001'];
const maxAttempts = 10;

/** The permanent relations on the search path: what one is if it has no rows, and its name if the role can read it. */
const plantsOnPath = `SELECT n.nspname,
    CASE WHEN t.relkind NOT IN ('r', 'p', 'v', 'm', 'f') THEN pg_describe_object('pg_class'::regclass, t.oid, 0) END,
    row_security_active(t.oid), pg_is_in_recovery(),
    CASE WHEN t.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege(t.oid, 'SELECT') THEN t.relnamespace::regnamespace || '.plants' END
  FROM unnest(current_schemas(false)) WITH ORDINALITY AS s (name, place) JOIN pg_namespace n ON n.nspname = s.name
    JOIN pg_class t ON t.relnamespace = n.oid
  WHERE t.relname = 'plants' AND t.relpersistence <> 't' ORDER BY place`;

/** Whether an insert must have a value of the column `a` with the type `y`: a domain can refuse NULL, or have a default. */
const needsValue = `(a.attnotnull OR y.typnotnull) AND NOT a.atthasdef AND a.attidentity = '' AND y.typdefault IS NULL`;

const quotedNames = columnNames.map((name) => `'${name}'`).join();
const columnsOf = (table: string): string => `pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
  WHERE a.attrelid = ${table} AND a.attnum > 0 AND NOT a.attisdropped`;

// The declaration is without the quotes of quote_all_identifiers.
const tableColumns = `SELECT a.attname, concat_ws(' ', a.attname,
    replace(format_type(a.atttypid, a.atttypmod), '"', ''),
    CASE WHEN EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary
      AND i.indimmediate AND i.indkey::text = a.attnum::text) THEN 'PRIMARY KEY'
      WHEN a.attnotnull THEN 'NOT NULL' END), ${needsValue},
    CASE a.attname WHEN 'id' THEN y.typoutput::text ~ 'int.out' ELSE y.typcategory = 'S' END
  FROM ${columnsOf('to_regclass($1::text)')} ORDER BY a.attnum`;

/**
 * The table and its partitions must be permanent and logged. Inheritance children are refused: ids are unique only within
 * each table, and the parent also returns the rows of its children. An insert evaluates the defaults of other columns.
 */
const tableState = `SELECT current_setting('transaction_read_only'),
  CASE WHEN t.relpersistence <> 'p' OR EXISTS (SELECT 1
      FROM pg_partition_tree(t.oid) p JOIN pg_class c ON c.oid = p.relid WHERE c.relpersistence <> 'p')
    OR EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = t.oid AND t.relkind <> 'p')
    THEN 'is UNLOGGED, TEMPORARY or inherited from, so that plants could be lost or duplicated'
  WHEN t.relkind = 'p' AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = t.oid) THEN 'has no partition'
  WHEN EXISTS (SELECT 1 FROM pg_index i, ${columnsOf('t.oid')} AND a.attnum::text = i.indkey::text
      AND i.indrelid = t.oid AND i.indisunique AND NOT i.indimmediate AND a.attname = 'id') THEN 'has a DEFERRABLE key'
  WHEN EXISTS (SELECT 1 FROM ${columnsOf('t.oid')} AND CASE WHEN a.attname IN (${quotedNames})
      THEN y.typoutput::text !~ '(int8|text|varchar)out' ELSE ${needsValue} END)
    THEN 'has a column whose type changes or limits values, or another that needs one' END,
  row_security_active(t.oid) AND (SELECT count(DISTINCT command) < 2
    FROM pg_policy p, unnest(p.polroles) AS role, unnest(ARRAY['r', 'a']) AS command
    WHERE p.polrelid = t.oid AND p.polpermissive AND p.polcmd::text IN ('*', command)
      AND (role = 0 OR pg_has_role(role, 'USAGE'))),
  array_to_json(ARRAY(SELECT 'SELECT, INSERT ON ' || $1::text
      WHERE EXISTS (SELECT 1 FROM ${columnsOf('t.oid')} AND a.attname IN (${quotedNames}) AND NOT
        (has_column_privilege(t.oid, a.attnum, 'SELECT') AND has_column_privilege(t.oid, a.attnum, 'INSERT')))
    UNION ALL SELECT 'EXECUTE ON FUNCTION ' || oid::regprocedure FROM pg_proc
      WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype
        AND NOT has_function_privilege(oid, 'EXECUTE')
    UNION ALL SELECT 'USAGE ON SEQUENCE ' || s.oid::regclass FROM pg_attrdef d
      JOIN pg_depend p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass
      JOIN pg_class s ON s.oid = p.refobjid WHERE d.adrelid = t.oid
        AND CASE s.relkind WHEN 'S' THEN NOT has_sequence_privilege(s.oid, 'USAGE, UPDATE') END))
  FROM pg_class t WHERE t.oid = to_regclass($1)`;
