import { createMemoryRepository, type PlantStore } from '@plantstore/core';
import type { GroupCommitOptions } from '@plantstore/core/group-commit';
import { checkDatabasePath, openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';
import { err, ok, type Result } from 'neverthrow';
import type { Logger } from '@plantstore/server';
import { loadOptional } from './load-optional.ts';
import { type DatabaseSetting, sourceOf } from './settings/setting-table.ts';

/** Opens the store that the settings name. The error is a message for the operator. */
export async function openStore(
  database: DatabaseSetting,
  log: Logger,
  { onCommit, handlerTimeoutMs }: StoreOptions = {},
): Promise<Result<Store, string>> {
  const reports = onCommit && { onCommit };
  switch (database.kind) {
    case 'memory':
      return ok(createMemoryRepository());
    case 'sqlite':
      // Throws if it was removed; a worker thread requires it in any case.
      process.cwd();
      return openSqliteRepository({
        path: database.path,
        onHeldWal: (held) => log.warn({ ...held }, heldWalMessage),
        ...reports,
      })
        .andTee(logWarnings)
        .map((repository) => logEnd(repository, log))
        .mapErr(({ message }) => cannotOpen(message));
    case 'postgres': {
      const postgres = await loadPostgres();
      if (postgres.isErr()) return err(cannotOpen(postgres.error));
      // Below the handler's, whose reason would hide the one of the store.
      const deadline = handlerTimeoutMs && { deadlineMs: Math.ceil((handlerTimeoutMs * 2) / 3) };
      return postgres.value
        .openPostgresRepository({ url: database.url, ...reports, ...deadline })
        .andTee(logWarnings)
        .mapErr(({ message }) => cannotOpen(message));
    }
  }

  function logWarnings({ warnings }: { readonly warnings: readonly string[] }): void {
    for (const warning of warnings) log.warn({}, warning);
  }
}

/** An open store, with the size of its WAL file and the name of its table, if it has them. */
export type Store = PlantStore &
  Partial<Pick<SqliteRepository, 'walSize'>> & { readonly table?: string };

export type StoreOptions = {
  readonly onCommit?: GroupCommitOptions['onCommit'] | undefined;
  /** Time limit of a request, in milliseconds; a create has less. */
  readonly handlerTimeoutMs?: number;
};

const heldWalMessage =
  'a transaction of another program blocks checkpoints: end it, or the WAL grows with every plant';
const replacedMessage = 'the database file is not the one that was opened';
const walLeftMessage =
  'the newest plants are still in the WAL: keep it together with the database; unless another ' +
  'program overwrote either, end the programs that have the database open, free space on the ' +
  'disk, then start and stop the server';

/** Returns a store that logs where its plants are if they are not all in the file at its end. */
function logEnd(repository: SqliteRepository, log: Logger): Store {
  return {
    ...repository,
    async close() {
      const { walLeft, replaced } = await repository.close();
      if (replaced !== undefined) log.error({ reason: replaced }, replacedMessage);
      else if (walLeft !== undefined) log.warn({ wal: walLeft }, walLeftMessage);
    },
  };
}

export const loadPostgres = async () =>
  loadOptional(
    '@plantstore/postgres',
    'a postgres:// database',
    async () => import('@plantstore/postgres'),
  );

function cannotOpen(message: string): string {
  return `cannot open the database (${sourceOf('database')}): ${message}`;
}

/** Looks for a fault of a database without opening it. The error is a message for the operator. */
export async function inspectDatabase(database: DatabaseSetting): Promise<Result<void, string>> {
  switch (database.kind) {
    case 'memory':
      return ok();
    case 'sqlite':
      process.cwd();
      if (process.permission !== undefined && !process.permission.has('worker'))
        return err(cannotOpen('Node runs with --permission: add --allow-worker'));
      return checkDatabasePath(database.path).mapErr(({ message }) => cannotOpen(message));
    case 'postgres':
      return (await loadPostgres()).map(() => undefined).mapErr(cannotOpen);
  }
}
