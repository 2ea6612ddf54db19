import { sqlStateOf } from './server-failure.ts';
import type { Session } from './session.ts';

/** Makes the table of plants. */
export const createTable =
  'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';

/** Why the table cannot be used. */
export type TableFault =
  | { readonly kind: 'may-not-create'; readonly cause: unknown }
  | { readonly kind: 'may-not-use' }
  | { readonly kind: 'foreign'; readonly found: string };

// Name, type, whether it is NOT NULL, and whether it is the primary key.
const shape = ['id bigint t t', 'name text t f', 'tag text f f'];

const findShape = `SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary
      AND i.indkey::text = a.attnum::text)
  FROM pg_attribute a
  WHERE a.attrelid = to_regclass('plants') AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`;

const findRights = `SELECT has_table_privilege('plants', 'SELECT') AND has_table_privilege('plants', 'INSERT')`;

// "IF NOT EXISTS" looks first and then creates, and another host may be between the two.
const racedCodes = ['23505', '42P07', '42710', 'XX000', '40001', '40P01'];
const deniedCodes = ['42501', '3F000', '25006'];

const maxAttempts = 10;

/**
 * Makes the table where it is missing, and never alters one that is there. Throws what the driver
 * throws.
 *
 * @param timeoutMs - how long each statement may take
 */
export const prepareTable = async (
  session: Session,
  timeoutMs: number,
): Promise<TableFault | undefined> => {
  for (let attempt = 1; ; attempt += 1) {
    const columns = (await session.query({ text: findShape }, timeoutMs)).map((column) =>
      column.join(' '),
    );
    if (columns.length > 0) {
      if (columns.toSorted().join() !== shape.join())
        return { kind: 'foreign', found: describe(columns) };
      const [rights] = await session.query({ text: findRights }, timeoutMs);
      return rights?.[0] === 't' ? undefined : { kind: 'may-not-use' };
    }
    try {
      await session.query({ text: createTable }, timeoutMs);
    } catch (thrown) {
      const code = sqlStateOf(thrown) ?? '';
      if (deniedCodes.includes(code)) return { kind: 'may-not-create', cause: thrown };
      if (!racedCodes.includes(code) || attempt === maxAttempts) throw thrown;
    }
  }
};

const describe = (columns: readonly string[]): string =>
  columns
    .map((column) =>
      column
        .replace(/( t)? t$/, ' PRIMARY KEY')
        .replace(/ f$/, '')
        .replace(/ t\b/, ' NOT NULL')
        .replace(/ f\b/, ''),
    )
    .join(', ');
