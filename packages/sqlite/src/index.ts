export type { OpenSqliteError } from './open-error.ts';
export { openSqliteRepository, type SqliteRepository } from './open-sqlite-repository.ts';
