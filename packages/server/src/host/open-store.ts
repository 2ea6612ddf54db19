import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import type { PostgresRepository } from '@plantstore/postgres';
import {
  openSqliteRepository,
  type SqliteOptions,
  type SqliteRepository,
} from '@plantstore/sqlite';
import type { Logger } from '../logger.ts';
import { isInstalled, missingPackage } from './is-installed.ts';
import type { DatabaseSetting } from './setting-table.ts';

/** Whether a store is available now. */
export type StoreState =
  | { readonly kind: 'available' }
  | { readonly kind: 'unavailable'; readonly reason: string; readonly cause?: unknown };

/** Checks whether a store is available, without a write. */
export type StoreCheck = () => Promise<StoreState>;

/** An open repository with its check and close, or why it could not be opened, as a message for the operator. */
export type OpenedStore =
  | {
      readonly kind: 'opened';
      readonly repository: PlantRepository;
      readonly check: StoreCheck;
      /** Number of creates without a result. */
      readonly waiting: () => number;
      /** Size of SQLite's write-ahead log, in bytes. */
      readonly logSize?: () => number;
      readonly close: () => Promise<void>;
    }
  | { readonly kind: 'cannot-open'; readonly message: string };

/** Optional callbacks for what a store reports. */
export type Reports = Pick<SqliteOptions, 'onCommit'>;

const opened = (
  repository: SqliteRepository | PostgresRepository,
  close: () => Promise<void>,
): OpenedStore & { readonly kind: 'opened' } => ({
  kind: 'opened',
  repository,
  check: async () =>
    repository.check().match(
      (): StoreState => ({ kind: 'available' }),
      ({ reason, cause }): StoreState => ({ kind: 'unavailable', reason, cause }),
    ),
  waiting: repository.waiting,
  close,
});

const packageName = '@plantstore/postgres';

type LoadedPostgres =
  | ({ readonly kind: 'loaded' } & typeof import('@plantstore/postgres'))
  | { readonly kind: 'cannot-open'; readonly message: string };

/** Loads the PostgreSQL store, an optional peer dependency. */
export const loadPostgres = async (): Promise<LoadedPostgres> => {
  if (isInstalled(packageName))
    return { kind: 'loaded', ...(await import('@plantstore/postgres')) };
  return {
    kind: 'cannot-open',
    message: missingPackage('a postgres:// database', packageName),
  };
};

const cannotOpen = ({ message }: { readonly message: string }): OpenedStore => ({
  kind: 'cannot-open',
  message: `cannot open the database (--database, PLANTSTORE_DATABASE): ${message}`,
});

const openPostgres = async (url: string, reports: Reports): Promise<OpenedStore> => {
  const postgres = await loadPostgres();
  if (postgres.kind === 'cannot-open') return cannotOpen(postgres);
  return postgres
    .openPostgresRepository({ url, ...reports })
    .match((repository): OpenedStore => opened(repository, repository.close), cannotOpen);
};

const logLeftMessage =
  'the newest plants are still in the write-ahead log: copy it together with the database; or end the programs that read the database, free space on the disk, then start and stop the server';

const heldLogMessage =
  'a transaction of another program blocks checkpoints: end it, or the write-ahead log grows with every plant';

const openSqlite = async (path: string, log: Logger, reports: Reports): Promise<OpenedStore> =>
  openSqliteRepository({
    path,
    onHeldLog: (held) => log.warn({ ...held }, heldLogMessage),
    ...reports,
  }).match(
    (repository): OpenedStore => ({
      ...opened(repository, async () => {
        const { logLeft } = await repository.close();
        if (logLeft !== undefined) log.warn({ log: logLeft }, logLeftMessage);
      }),
      logSize: repository.logSize,
    }),
    cannotOpen,
  );

/** Opens the store that the settings name. */
export const openStore = async (
  database: DatabaseSetting,
  log: Logger,
  reports: Reports = {},
): Promise<OpenedStore> => {
  switch (database.kind) {
    case 'memory':
      return {
        kind: 'opened',
        repository: createMemoryRepository(),
        check: async () => ({ kind: 'available' }),
        waiting: () => 0,
        close: async () => {},
      };
    case 'sqlite':
      return openSqlite(database.path, log, reports);
    case 'postgres':
      return openPostgres(database.url, reports);
  }
};
