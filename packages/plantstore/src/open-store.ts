import { createMemoryRepository, type PlantStore } from '@plantstore/core';
import type { GroupCommitOptions } from '@plantstore/core/group-commit';
import { checkDatabasePath, openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';
import { err, ok, type Result } from 'neverthrow';
import type { Logger } from '@plantstore/server';
import { loadOptional } from './load-optional.ts';
import type { DatabaseSetting } from './settings/setting-table.ts';

/** An open store, with the size of its WAL file and the name of its table, if it has them. */
export type Store = PlantStore &
  Partial<Pick<SqliteRepository, 'walSize'>> & { readonly table?: string };

/** Optional callbacks for what a store reports. */
export type StoreListeners = Pick<GroupCommitOptions, 'onCommit'>;

/** Opens the store that the settings name. The error is a message for the operator. */
export async function openStore(
  database: DatabaseSetting,
  log: Logger,
  listeners: StoreListeners = {},
): Promise<Result<Store, string>> {
  switch (database.kind) {
    case 'memory':
      return ok(createMemoryRepository());
    case 'sqlite':
      return openSqlite(database.path, log, listeners);
    case 'postgres': {
      const postgres = await loadPostgres();
      if (postgres.isErr()) return err(cannotOpen(postgres.error));
      return postgres.value
        .openPostgresRepository({ url: database.url, ...listeners })
        .andTee(({ warnings }) => warnings.forEach((warning) => log.warn({}, warning)))
        .mapErr(({ message }) => cannotOpen(message));
    }
  }
}

const heldWalMessage =
  'a transaction of another program blocks checkpoints: end it, or the WAL grows with every plant';
const replacedMessage = 'the database file is not the one that was opened';
const walLeftMessage =
  'the newest plants are still in the WAL: keep it together with the database; unless another program overwrote either, end the programs that have the database open, free space on the disk, then start and stop the server';

async function openSqlite(
  path: string,
  log: Logger,
  listeners: StoreListeners,
): Promise<Result<Store, string>> {
  requireWorkingDirectory();
  return openSqliteRepository({
    path,
    onHeldWal: (held) => log.warn({ ...held }, heldWalMessage),
    ...listeners,
  })
    .andTee(({ warnings }) => warnings.forEach((warning) => log.warn({}, warning)))
    .map((repository) => ({
      ...repository,
      close: async () => {
        const { walLeft, replaced } = await repository.close();
        if (replaced !== undefined) log.error({ reason: replaced }, replacedMessage);
        else if (walLeft !== undefined) log.warn({ wal: walLeft }, walLeftMessage);
      },
    }))
    .mapErr(({ message }) => cannotOpen(message));
}

/** Throws if the working directory was removed: a worker thread requires it, also for an absolute path. */
function requireWorkingDirectory(): void {
  process.cwd();
}

export const loadPostgres = async () =>
  loadOptional(
    '@plantstore/postgres',
    'a postgres:// database',
    async () => import('@plantstore/postgres'),
  );

function cannotOpen(message: string): string {
  return `cannot open the database (--database, PLANTSTORE_DATABASE): ${message}`;
}

/** Looks for a fault of a database without opening it or connecting to it. The error is a message for the operator. */
export async function inspectDatabase(database: DatabaseSetting): Promise<Result<void, string>> {
  switch (database.kind) {
    case 'memory':
      return ok();
    case 'sqlite':
      requireWorkingDirectory();
      if (process.permission !== undefined && !process.permission.has('worker'))
        return err(cannotOpen('Node runs with --permission: add --allow-worker'));
      return checkDatabasePath(database.path).mapErr(({ message }) => cannotOpen(message));
    case 'postgres':
      return (await loadPostgres()).map(() => undefined).mapErr(cannotOpen);
  }
}
