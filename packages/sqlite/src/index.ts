export type { OpenSqliteError } from './open-error.ts';
export {
  type ClosedSqliteRepository,
  openSqliteRepository,
  type SqliteRepository,
} from './open-sqlite-repository.ts';
