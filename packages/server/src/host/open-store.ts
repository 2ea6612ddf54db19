import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import type { PostgresRepository } from '@plantstore/postgres';
import { openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';
import type { Logger } from '../logger.ts';
import type { DatabaseSetting } from './setting-table.ts';

/** Whether a store answers at the moment. */
export type StoreState =
  | { readonly kind: 'answers' }
  | { readonly kind: 'away'; readonly reason: string; readonly cause?: unknown };

/** Asks a store whether it answers, and writes nothing. */
export type StoreCheck = () => Promise<StoreState>;

/** A repository and how to give it up, or why there is none. */
export type OpenedStore =
  | {
      readonly kind: 'opened';
      readonly repository: PlantRepository;
      readonly check: StoreCheck;
      readonly close: () => Promise<void>;
    }
  | { readonly kind: 'cannot-open'; readonly message: string };

const opened = (
  repository: SqliteRepository | PostgresRepository,
  close: () => Promise<void>,
): OpenedStore => ({
  kind: 'opened',
  repository,
  check: async () =>
    repository.check().match(
      (): StoreState => ({ kind: 'answers' }),
      ({ reason, cause }): StoreState => ({ kind: 'away', reason, cause }),
    ),
  close,
});

const packageName = '@plantstore/postgres';

const isInstalled = (name: string): boolean => {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
};

/** Loads the PostgreSQL store, an optional peer dependency, and opens it. */
const openPostgres = async (url: string): Promise<OpenedStore> => {
  if (!isInstalled(packageName)) {
    return {
      kind: 'cannot-open',
      message: `a postgres:// database needs the package ${packageName} beside this one: npm install ${packageName}, with --global if this one is`,
    };
  }
  const { openPostgresRepository } = await import('@plantstore/postgres');
  return openPostgresRepository({ url }).match(
    (repository) => opened(repository, repository.close),
    ({ message }): OpenedStore => ({ kind: 'cannot-open', message }),
  );
};

const logLeftMessage =
  'the newest plants are still in the log beside the database: copy both files; or end the programs that read it, or free space on the disk, start and stop again';

const heldLogMessage =
  'another program keeps the log beside the database from being emptied: end its transaction, or the log grows with every plant';

const openSqlite = async (path: string, log: Logger): Promise<OpenedStore> =>
  openSqliteRepository({ path, onHeldLog: (held) => log.warn({ ...held }, heldLogMessage) }).match(
    (repository) =>
      opened(repository, async () => {
        const { logLeft } = await repository.close();
        if (logLeft !== undefined) log.warn({ log: logLeft }, logLeftMessage);
      }),
    ({ message }): OpenedStore => ({ kind: 'cannot-open', message }),
  );

/** Opens the store that the settings name. */
export const openStore = async (database: DatabaseSetting, log: Logger): Promise<OpenedStore> => {
  switch (database.kind) {
    case 'memory':
      return {
        kind: 'opened',
        repository: createMemoryRepository(),
        check: async () => ({ kind: 'answers' }),
        close: async () => {},
      };
    case 'sqlite':
      return openSqlite(database.path, log);
    case 'postgres':
      return openPostgres(database.url);
  }
};
