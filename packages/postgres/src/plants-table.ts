import { err, ok, type Result } from 'neverthrow';
import { describeThrown, sqlStateOf } from './server-failure.ts';
import type { Session } from './session.ts';
import { insertStatement, quoted, readStatement } from './statements.ts';

/** Returns the statement that creates the table of plants under a name. */
export const createTable = (name: string): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (id bigint PRIMARY KEY, name text NOT NULL, tag text)`;

/** Reason why the table cannot be used. */
export type TableFault =
  | { readonly kind: 'may-not-create'; readonly name: string; readonly cause: unknown }
  | { readonly kind: 'no-schema'; readonly searchPath: string; readonly cause: unknown }
  /** `what` lists the missing privileges and their objects, as in GRANT. */
  | { readonly kind: 'may-not-use'; readonly what: readonly string[] }
  | { readonly kind: 'foreign'; readonly found: string };

// The schema of the table, and whether it and its partitions are permanent and logged. Inheritance children
// are refused: ids are unique only within each table, and the parent also returns the rows of its children.
const findTable = `SELECT n.nspname, t.relpersistence = 'p' AND NOT EXISTS (SELECT 1
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = t.oid AND (c.relpersistence <> 'p' OR t.relkind <> 'p'))
  FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace WHERE t.oid = to_regclass('plants')`;

const shape = ['id bigint PRIMARY KEY', 'name text NOT NULL', 'tag text'];

// Without the quotes of quote_all_identifiers.
const findShape = `SELECT concat_ws(' ', a.attname,
    replace(format_type(a.atttypid, a.atttypmod), '"', ''),
    CASE WHEN EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary
      AND i.indimmediate AND i.indkey::text = a.attnum::text) THEN 'PRIMARY KEY'
      WHEN a.attnotnull THEN 'NOT NULL' END)
  FROM pg_attribute a
  WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`;

const findMissingPrivileges = `SELECT 'SELECT, INSERT ON ' || $1::text
    WHERE NOT (has_table_privilege($1, 'SELECT') AND has_table_privilege($1, 'INSERT'))
  UNION ALL SELECT 'EXECUTE ON FUNCTION ' || oid::regprocedure FROM pg_proc
    WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype
      AND NOT has_function_privilege(oid, 'EXECUTE')`;

const findSchema = `SELECT current_schema(), current_setting('search_path')`;

// IF NOT EXISTS is not atomic: another host can create the table at the same time.
const concurrentCreateCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];
const deniedCodes = ['42501', '3F000', '25006'];

// A generated column; a rule on INSERT.
const unsupportedTableCodes = ['428C9', '0A000'];

const maxAttempts = 10;

/** Returns the first column of the result. */
const firstColumnOf = async (session: Session, text: string, table: string) =>
  (await session.query({ text, values: [table] })).map(([first]) => first ?? '');

/** Plans the statements with EXPLAIN, which finds faults that the catalog does not show. */
const findStatementFault = async (
  session: Session,
  table: string,
): Promise<TableFault | undefined> => {
  const plants = [{ id: 0n, name: '' }];
  try {
    for (const statement of [insertStatement(table, plants, 0), readStatement(table, plants)]) {
      await session.query({ ...statement, text: `EXPLAIN ${statement.text}` });
    }
    return undefined;
  } catch (thrown) {
    if (!unsupportedTableCodes.includes(sqlStateOf(thrown) ?? '')) throw thrown;
    return { kind: 'foreign', found: describeThrown(thrown) };
  }
};

const checkTable = async (
  session: Session,
  table: string,
  isDurable: boolean,
): Promise<TableFault | undefined> => {
  if (!isDurable) {
    const found =
      'UNLOGGED, TEMPORARY or inherited from, so that plants could be lost or duplicated';
    return { kind: 'foreign', found };
  }
  const columns = await firstColumnOf(session, findShape, table);
  if (columns.toSorted().join() !== shape.join()) {
    return { kind: 'foreign', found: columns.join(', ') };
  }
  const what = await firstColumnOf(session, findMissingPrivileges, table);
  return what.length > 0 ? { kind: 'may-not-use', what } : findStatementFault(session, table);
};

/**
 * Creates the table if it does not exist, and never alters an existing one. Throws the exceptions of the driver.
 *
 * @returns the table name with its schema, quoted, which does not depend on the search path of a pooled session
 */
export const prepareTable = async (session: Session): Promise<Result<string, TableFault>> => {
  for (let attempt = 1; ; attempt += 1) {
    const [found] = await session.query({ text: findTable });
    if (found !== undefined) {
      const table = `${quoted(found[0] ?? '')}.plants`;
      const fault = await checkTable(session, table, found[1] === 't');
      return fault === undefined ? ok(table) : err(fault);
    }
    try {
      await session.query({ text: createTable('plants') });
    } catch (cause) {
      const code = sqlStateOf(cause) ?? '';
      if (deniedCodes.includes(code)) {
        const [place] = await session.query({ text: findSchema });
        const [schema, searchPath] = place ?? [];
        return err(
          typeof schema === 'string'
            ? { kind: 'may-not-create', name: `${quoted(schema)}.plants`, cause }
            : { kind: 'no-schema', searchPath: searchPath ?? '', cause },
        );
      }
      if (!concurrentCreateCodes.includes(code) || attempt === maxAttempts) throw cause;
    }
  }
};
