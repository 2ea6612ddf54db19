import type * as sqliteModule from 'node:sqlite';

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

// Node 22 warns that node:sqlite is experimental, which helps no user of ours. It goes with Node 22.
const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite'));

/** Copies a database in steps, in a thread of libuv. */
export const { backup } = sqlite;

/** One connection to a database file. */
export type Database = sqliteModule.DatabaseSync;

export const Database = sqlite.DatabaseSync;
