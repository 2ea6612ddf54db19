import { createMemoryRepository, type PlantStore } from '@plantstore/core';
import type { GroupCommitOptions } from '@plantstore/core/group-commit';
import { checkDatabasePath, openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';
import { err, ok, type Result } from 'neverthrow';
import type { Logger } from '@plantstore/server';
import { isInstalled, missingPackage } from './is-installed.ts';
import type { DatabaseSetting } from './settings/setting-table.ts';

/** An open store, with the size of its WAL file if it has one. */
export type Store = PlantStore & Partial<Pick<SqliteRepository, 'walSize'>>;

/** Optional callbacks for what a store reports. */
export type StoreListeners = Pick<GroupCommitOptions, 'onCommit'>;

const packageName = '@plantstore/postgres';

/** Loads the PostgreSQL store, an optional peer dependency. */
export const loadPostgres = async (): Promise<
  Result<typeof import('@plantstore/postgres'), string>
> =>
  isInstalled(packageName)
    ? ok(await import('@plantstore/postgres'))
    : err(missingPackage('a postgres:// database', packageName));

const cannotOpen = (message: string): string =>
  `cannot open the database (--database, PLANTSTORE_DATABASE): ${message}`;

const openPostgres = async (
  url: string,
  listeners: StoreListeners,
): Promise<Result<Store, string>> => {
  const postgres = await loadPostgres();
  if (postgres.isErr()) return err(cannotOpen(postgres.error));
  return postgres.value
    .openPostgresRepository({ url, ...listeners })
    .mapErr(({ message }) => cannotOpen(message));
};

const walLeftMessage =
  'the newest plants are still in the WAL: copy it together with the database; or end the programs that have the database open, free space on the disk, then start and stop the server';

const replacedMessage = 'the database file is not the one that was opened';

const heldWalMessage =
  'a transaction of another program blocks checkpoints: end it, or the WAL grows with every plant';

const openSqlite = async (
  path: string,
  log: Logger,
  listeners: StoreListeners,
): Promise<Result<Store, string>> =>
  openSqliteRepository({
    path,
    onHeldWal: (held) => log.warn({ ...held }, heldWalMessage),
    ...listeners,
  })
    .map((repository) => ({
      ...repository,
      close: async () => {
        const { walLeft, replaced } = await repository.close();
        if (replaced !== undefined) log.error({ reason: replaced }, replacedMessage);
        else if (walLeft !== undefined) log.warn({ wal: walLeft }, walLeftMessage);
      },
    }))
    .mapErr(({ message }) => cannotOpen(message));

/** Opens the store that the settings name. The error is a message for the operator. */
export const openStore = async (
  database: DatabaseSetting,
  log: Logger,
  listeners: StoreListeners = {},
): Promise<Result<Store, string>> => {
  switch (database.kind) {
    case 'memory':
      return ok(createMemoryRepository());
    case 'sqlite':
      return openSqlite(database.path, log, listeners);
    case 'postgres':
      return openPostgres(database.url, listeners);
  }
};

/** Looks for a fault of a database without opening it or connecting to it. The error is a message for the operator. */
export const inspectDatabase = async (database: DatabaseSetting): Promise<Result<void, string>> => {
  switch (database.kind) {
    case 'memory':
      return ok();
    case 'sqlite':
      return checkDatabasePath(database.path).mapErr(({ message }) => cannotOpen(message));
    case 'postgres':
      return (await loadPostgres()).map(() => undefined).mapErr(cannotOpen);
  }
};
