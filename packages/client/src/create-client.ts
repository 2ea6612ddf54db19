import { ResultAsync } from 'neverthrow';
import type { Report } from './call.ts';
import { callService } from './call-service.ts';
import {
  type ClientOptions,
  type Limits,
  readSettings,
  type RequestHeaders,
} from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';
import type { NewPlant, Plant } from './plant.ts';

/**
 * Options of a single call. Its limits have the client's as defaults.
 *
 * @example
 * ```ts
 * import type { CreatePlantOptions } from '@plantstore/client';
 *
 * const controller = new AbortController();
 * export const options: CreatePlantOptions = { signal: controller.signal, timeoutMs: 5_000 };
 * ```
 */
export type CreatePlantOptions = Limits & {
  /** Ends the call with the error `aborted`, in every phase. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Further request headers, which replace the client's of the same name. Default: none. */
  readonly headers?: RequestHeaders | undefined;
  /**
   * Called just before the call settles, with a plant or an error: a plant has no place for this report.
   * Not awaited, and its failure is ignored. Default: none.
   */
  readonly onSettled?: ((report: Report) => unknown) | undefined;
};

/**
 * A client of one plant store; see {@link createClient}. It does not show the token, and can make any
 * number of calls at a time.
 *
 * @example
 * ```ts
 * import type { PlantClient } from '@plantstore/client';
 *
 * export const plantMonstera = (client: PlantClient) =>
 *   client.createPlant({ id: 7n, name: 'Monstera', tag: 'climber' });
 * ```
 */
export type PlantClient = {
  /**
   * Creates a plant. Never throws, and the result never rejects. Source: the specification's
   * "Create plant".
   *
   * @returns The plant as the service returns it (without the id): it is stored durably. The same
   * plant may be created again; another plant under a taken id is `refused` as `id-taken`.
   */
  readonly createPlant: (
    newPlant: NewPlant,
    options?: CreatePlantOptions,
  ) => ResultAsync<Plant, CreatePlantError>;
};

/**
 * Creates a client of the plant store at a base URL. It sends nothing yet and never throws:
 * every call of a client with a wrong option returns `request-invalid` or `token-failed`.
 *
 * @example
 * ```ts
 * import { createClient } from '@plantstore/client';
 *
 * const client = createClient({ baseUrl: 'https://plants.example', token: 'mF_9.B5f-4.1JqM' });
 * const created = await client.createPlant({ id: 9007199254740993n, name: 'Monstera' });
 * export const outcome = created.match(
 *   (plant) => plant.name, // 'Monstera'
 *   (error) => `${error.kind}: ${error.message}`,
 * );
 * ```
 */
export const createClient = (options: ClientOptions): PlantClient => {
  const settings = readSettings(options);
  return {
    createPlant: (newPlant, callOptions) =>
      new ResultAsync(callService(settings, newPlant, callOptions)),
  };
};
