export {
  type BackUpOptions,
  type BackupProgress,
  backUpPlants,
  type PlantsBackup,
} from './back-up-plants.ts';
export type { BackUpError, BackUpExists } from './backup-protocol.ts';
export type { OpenSqliteError } from './open-error.ts';
export {
  type ClosedSqliteRepository,
  type HeldLog,
  openSqliteRepository,
  type SqliteOptions,
  type SqliteRepository,
} from './open-sqlite-repository.ts';
export { readPlants, type ReadPlantsOptions } from './read-plants.ts';
export { checkPlants, type IdRange, type PlantsCheck } from './check-plants.ts';
export {
  type RestoredPlants,
  type RestoreError,
  type RestoreOptions,
  restorePlants,
  type SameFile,
} from './restore-plants.ts';
