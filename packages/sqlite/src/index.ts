export {
  type BackUpError,
  type BackUpOptions,
  backUpPlants,
  type BackUpRefused,
  type PlantsBackup,
  restorePlants,
} from './back-up-plants.ts';
export { checkDatabasePath } from './check-database-path.ts';
export type { OpenSqliteError } from './open-error.ts';
export {
  type ClosedSqliteRepository,
  type HeldWal,
  openSqliteRepository,
  type SqliteOptions,
  type SqliteRepository,
} from './open-sqlite-repository.ts';
export { readPlantBatches, readPlants, type ReadPlantsOptions } from './read-plants.ts';
export { checkPlants, type PlantsCheck } from './check-plants.ts';
