export type { OpenPostgresError } from './open/errors.ts';
export type { Result, ResultAsync } from 'neverthrow';
export {
  openPostgresRepository,
  type PostgresOptions,
  type PostgresRepository,
} from './repository.ts';
export { readPlantBatches, readPlants, type ReadPlantsOptions } from './read/read-plants.ts';
