import type * as sqliteModule from 'node:sqlite';

type NodeSqlite = typeof sqliteModule;

const withoutWarning = <T>(load: () => T): T => {
  // oxlint-disable-next-line typescript/unbound-method -- it is only put back where it was
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
};

// Node 22 announces node:sqlite as experimental on standard error, which helps no user of ours.
const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite'));

/** One connection to a database file. */
export type Database = InstanceType<NodeSqlite['DatabaseSync']>;

/** The class is being renamed from `DatabaseSync` to `Database`. */
export const Database =
  (sqlite as { Database?: NodeSqlite['DatabaseSync'] }).Database ?? sqlite.DatabaseSync;
