export type { Result, ResultAsync } from 'neverthrow';
export type { Report } from './call.ts';
export type {
  ClientOptions,
  FetchInit,
  FetchResponse,
  Limits,
  RequestHeaders,
  Retry,
} from './client-options.ts';
export { createClient, type CreatePlantOptions, type PlantClient } from './create-client.ts';
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
export { createPlants } from './create-plants.ts';
export type { CreatePlantsOptions, PlantOutcome } from './create-plants-options.ts';
export type { CauseDescription } from './describe-cause.ts';
export type { ErrorName } from './error-names.ts';
export type { NewPlant, Plant } from './plant.ts';
export type { TokenRequest } from './token-source.ts';
