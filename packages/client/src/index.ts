export { createClient, type CreatePlantOptions, type PlantClient } from './create-client.ts';
export { createPlants, type CreatePlantsOptions, type PlantOutcome } from './create-plants.ts';
export type { ClientOptions, Retry } from './client-options.ts';
export type {
  Aborted,
  CreatePlantError,
  NetworkFailed,
  Refused,
  RequestInvalid,
  ResponseInvalid,
  TimedOut,
  TokenFailed,
  UnexpectedStatus,
} from './create-plant-error.ts';
export type { CauseDescription } from './describe-cause.ts';
export type { TokenRequest } from './token-source.ts';
