import type { NewPlant } from '@plantstore/core';
import { err, ok, type Result } from 'neverthrow';
import { columnNames, declarationOf, firstNames, quoted } from './columns.ts';
import { describeThrown, type Fault, type Place, sqlStateOf, warningOf } from './errors.ts';
import type { Session } from './session.ts';
import { insertStatement } from './statements.ts';

/**
 * Finds the table, or creates it, and adds the columns that one of an earlier version does not
 * have. Throws the exceptions of the driver.
 */
export async function prepareTable(session: Session, place: Place): Promise<Found> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await findTable(session, place);
    // A second, empty table would permit the ids of the first once more.
    if (found.isErr() && found.error.kind === 'table-elsewhere') return found;
    const fault = found.isOk()
      ? ((await completeColumns(session, found.value)) ??
        (await findCreateFault(session, found.value)))
      : await createTable(session, place);
    if (fault !== undefined) return err(fault);
    // Another program may drop it meanwhile, and something else can have its name for ever.
    if (found.isOk() || attempt === maxAttempts) return found;
  }
}

/** A table of plants. */
export type PlantsTable = {
  /** The name with its schema, quoted, which does not depend on the search path of a session. */
  readonly table: string;
  /** The name with its database, for the operator. */
  readonly shown: string;
  readonly warnings: readonly string[];
  readonly place: Place;
};

/** Finds the table on the search path. */
export async function findTable(session: Session, place: Place): Promise<Found> {
  const [relation] = await session.read<Relation>(relationOnPath);
  const { schema = null, others = null, isStandby } = relation ?? {};
  if (schema === null)
    return others === null
      ? err({ kind: 'table-missing', detail: session.server })
      : err({ kind: 'table-elsewhere', detail: others });
  const table = `${quoted(schema)}.plants`;
  const note = isStandby === true ? ' (of a standby, which may not have the newest plants)' : '';
  const shown = `${table} in ${place.database}${note}`;
  const warnings = others === null ? [] : [warningOf(shown, others)];
  return ok({ table, shown, warnings, place });
}

/**
 * Finds out why creates would fail or lose plants: what the catalog shows, then what the server
 * throws for an insert of no plants.
 */
export async function findCreateFault(session: Session, plantsTable: PlantsTable) {
  const fault = await findTableFault(session, plantsTable);
  if (fault === undefined) await session.query(insertStatement(plantsTable.table, [], 0));
  return fault;
}

/** Finds a fault of the table that an insert does not find, or blames on a plant. */
export async function findTableFault(session: Session, { table }: PlantsTable) {
  const [state] = await session.read<{ found: keyof typeof faults | null }>(tableState, [table]);
  return state === undefined || state.found === null ? undefined : faults[state.found];
}

/** Reads what the columns of a table mean for plants. */
export async function readColumns(session: Session, table: string) {
  const columns = await session.read<Column>(tableColumns, [table]);
  const isMember = ({ name }: Column) => columnNames.some((one) => one === name);
  return {
    definition: columns.map(({ declaration }) => declaration).join(', '),
    /** Names of columns of another program, or a newer version. */
    unknown: columns.filter((one) => !isMember(one)).map(({ name }) => name),
    missing: columnNames.filter((name) => columns.every((one) => one.name !== name)),
    isUsable: columns.every((one) =>
      isMember(one) ? declarations.has(one.declaration) : !one.needsValue,
    ),
    isReadable: columns.every((one) => !isMember(one) || one.isExact),
  };
}

/** Adds columns to the table of an earlier version. */
export async function addColumns(
  session: Session,
  table: string,
  names: readonly (keyof NewPlant)[],
): Promise<Fault | undefined> {
  const added = names.map((name) => `ADD COLUMN IF NOT EXISTS ${declarationOf(name)}`);
  const statement = `ALTER TABLE ${table} ${added.join(', ')};`;
  // While it waits for a reader of the table, such as pg_dump, the creates of other servers wait.
  const text = `DO $alter$ BEGIN SET LOCAL lock_timeout = '1s'; ${statement} END $alter$`;
  return runAsOwner(session, text, statement);
}

/** Returns the identity of a table and those below it, which changes when one is replaced. */
export async function identityOf(session: Session, table: string): Promise<unknown> {
  const [row] = await session.read<{ identity: string }>(tableIdentity, [table]);
  return row?.identity;
}

type Found = Result<PlantsTable, Fault>;

/** Checks the columns of the table, and adds those of later versions that it does not have. */
async function completeColumns(session: Session, { table }: PlantsTable) {
  const { definition, missing, isUsable } = await readColumns(session, table);
  if (!isUsable || missing.some((name) => firstNames.includes(name)))
    return { kind: 'table-foreign', detail: definition } satisfies Fault;
  return missing.length > 0 ? addColumns(session, table, missing) : undefined;
}

async function createTable(session: Session, { user }: Place): Promise<Fault | undefined> {
  const grant = `GRANT SELECT, INSERT ON plants TO ${quoted(user)};`;
  try {
    return await runAsOwner(session, createStatement, `${createStatement}; ${grant}`);
  } catch (thrown) {
    // IF NOT EXISTS is not atomic: another process can create the table at the same time.
    if (concurrentCreateCodes.includes(sqlStateOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
}

/** Runs a statement, or returns the statements for the owner if the role may not. */
async function runAsOwner(session: Session, text: string, statements: string) {
  try {
    await session.query({ text });
    return undefined;
  } catch (cause) {
    if (sqlStateOf(cause) !== '42501') throw cause;
    const detail = `or run ${statements} because ${describeThrown(cause)}`;
    return { kind: 'table-denied', detail, cause } satisfies Fault;
  }
}

const all = columnNames.map(declarationOf);
const createStatement = `CREATE TABLE IF NOT EXISTS plants (${all.join(', ')})`;
const concurrentCreateCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];
const maxAttempts = 10;

type Relation = {
  /** Of the first permanent table or view plants on the search path, if there is one. */
  readonly schema: string | null;
  /** Schemas of other tables, unless the URL has named the path. */
  readonly others: string | null;
  readonly isStandby: boolean;
};

const relationOnPath = `SELECT t.schema, pg_is_in_recovery() AS "isStandby",
    (SELECT string_agg(o.relnamespace::regnamespace::text, ', ') FROM pg_class o
      WHERE o.relname = 'plants' AND o.oid IS DISTINCT FROM t.oid AND o.relkind IN ('r', 'p')
        AND o.relpersistence <> 't' AND has_table_privilege(o.oid, 'SELECT')
        AND has_schema_privilege(o.relnamespace, 'USAGE')
        AND 'client' <> (SELECT source FROM pg_settings WHERE name = 'search_path')) AS others
  FROM (SELECT) AS one LEFT JOIN (SELECT n.nspname AS schema, c.oid
    FROM unnest(current_schemas(false)) WITH ORDINALITY AS s (name, place)
      JOIN pg_namespace n ON n.nspname = s.name JOIN pg_class c ON c.relnamespace = n.oid
    WHERE c.relname = 'plants' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND c.relpersistence <> 't' ORDER BY place LIMIT 1) AS t ON true`;

const tableIdentity = `WITH RECURSIVE below (oid) AS (
    SELECT to_regclass($1)::oid UNION SELECT next.oid FROM below, LATERAL (
      SELECT inhrelid FROM pg_inherits WHERE inhparent = below.oid
      UNION SELECT refobjid FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid
        AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      WHERE r.ev_class = below.oid) AS next (oid))
  SELECT string_agg(concat_ws(' ', oid, pg_relation_filenode(oid)), ',' ORDER BY oid) AS identity
  FROM below`;

/** A column: whether an insert must have a value of it, and whether a member's is exact. */
type Column = {
  readonly name: string;
  readonly declaration: string;
  readonly needsValue: boolean;
  /** An integer for the id, a text for the others. */
  readonly isExact: boolean;
};

// A domain can refuse NULL, or have a default.
const needsValue = `(a.attnotnull OR y.typnotnull) AND NOT a.atthasdef AND a.attidentity = ''
  AND y.typdefault IS NULL`;
const columnsOf = (table: string): string => `pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
  WHERE a.attrelid = ${table} AND a.attnum > 0 AND NOT a.attisdropped`;

// The declaration is without the quotes of quote_all_identifiers.
const tableColumns = `SELECT a.attname AS name, concat_ws(' ', a.attname,
      replace(format_type(a.atttypid, a.atttypmod), '"', ''),
      CASE WHEN EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary
        AND i.indimmediate AND i.indkey::text = a.attnum::text) THEN 'PRIMARY KEY'
        WHEN a.attnotnull THEN 'NOT NULL' END) AS declaration,
    ${needsValue} AS "needsValue", CASE a.attname WHEN 'id' THEN y.typoutput::text ~ 'int.out'
      ELSE y.typcategory = 'S' END AS "isExact"
  FROM ${columnsOf('to_regclass($1::text)')} ORDER BY a.attnum`;
const declarations = new Set(all);

/** What the catalog can show. */
const faults = {
  // Ids are unique only within each table, and the parent returns the rows of its children, too.
  unsafe: { kind: 'table-foreign', detail: 'UNLOGGED, TEMPORARY, inherited from, or no partition' },
  column: { kind: 'table-foreign', detail: 'the type of a column, or one that needs a value' },
  policy: { kind: 'row-security', detail: 'no policy lets it read and insert' },
} as const satisfies Readonly<Record<string, Fault>>;

const members = columnNames.map((name) => `'${name}'`).join();
const tableState = `SELECT CASE
    WHEN t.relpersistence <> 'p' OR EXISTS (SELECT 1 FROM pg_partition_tree(t.oid) p
        JOIN pg_class c ON c.oid = p.relid WHERE c.relpersistence <> 'p')
      OR (t.relkind = 'p') <> EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhparent = t.oid)
      THEN 'unsafe'
    WHEN EXISTS (SELECT 1 FROM ${columnsOf('t.oid')} AND CASE WHEN a.attname IN (${members})
      THEN y.typoutput::text !~ '(int8|text|varchar)out' ELSE ${needsValue} END) THEN 'column'
    WHEN row_security_active(t.oid) AND (SELECT count(DISTINCT command) < 2
      FROM pg_policy p, unnest(p.polroles) AS role, unnest(ARRAY['r', 'a']) AS command
      WHERE p.polrelid = t.oid AND p.polpermissive AND p.polcmd::text IN ('*', command)
        AND (role = 0 OR pg_has_role(role, 'USAGE'))) THEN 'policy'
  END AS found FROM pg_class t WHERE t.oid = to_regclass($1)`;
