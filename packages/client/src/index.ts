export type { Result, ResultAsync } from 'neverthrow';
export { createClient, type PlantClient } from './client.ts';
export type {
  Aborted,
  CauseDescription,
  CreatePlantError,
  ErrorName,
  NetworkFailed,
  Refused,
  Report,
  RequestInvalid,
  ResponseInvalid,
  TimedOut,
  TokenFailed,
  UnexpectedStatus,
} from './errors.ts';
export type {
  ClientOptions,
  CreatePlantOptions,
  FetchInit,
  FetchResponse,
  Limits,
  RequestHeaders,
  Retry,
} from './options.ts';
export type { NewPlant, Plant } from './plant.ts';
export type { TokenRequest } from './token.ts';
