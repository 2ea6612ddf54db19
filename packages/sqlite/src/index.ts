export type { Result, ResultAsync } from 'neverthrow';
export {
  type BackUpOptions,
  backUpPlants,
  type PlantsBackup,
  restorePlants,
} from './read/back-up-plants.ts';
export type { HeldWal } from './commit/checkpoints.ts';
export { checkDatabasePath } from './open/faults.ts';
export type { OpenSqliteError } from './open/errors.ts';
export {
  type ClosedSqliteRepository,
  openSqliteRepository,
  type SqliteOptions,
  type SqliteRepository,
} from './repository.ts';
export type { ReadPlantsOptions } from './read/plant-reader.ts';
export { readPlantBatches, readPlants } from './read/read-plants.ts';
export { checkPlants, type PlantsCheck } from './read/check-plants.ts';
