import type * as sqliteModule from 'node:sqlite';

const withoutWarning = <T>(load: () => T): T => {
  // oxlint-disable-next-line typescript/unbound-method -- it is only restored
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
};

// Suppresses the ExperimentalWarning of Node 22. Remove when Node 22 is no longer supported.
const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite'));

/** One connection to a database file. */
export type Database = sqliteModule.DatabaseSync;

export const Database = sqlite.DatabaseSync;
