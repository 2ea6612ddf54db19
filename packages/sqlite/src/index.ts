export type { OpenSqliteError } from './open-error.ts';
export {
  type ClosedSqliteRepository,
  type HeldLog,
  openSqliteRepository,
  type SqliteOptions,
  type SqliteRepository,
} from './open-sqlite-repository.ts';
