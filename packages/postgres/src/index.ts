export type { OpenPostgresError } from './open-error.ts';
export {
  openPostgresRepository,
  type PostgresOptions,
  type PostgresRepository,
} from './open-postgres-repository.ts';
export { readPlantBatches, readPlants, type ReadPlantsOptions } from './read-plants.ts';
