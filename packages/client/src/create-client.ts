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
 * Options of a single call. The defaults of its limits are those of the client.
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
  /** Aborts the call in any phase, with the error `aborted`. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Additional request headers, which replace those of the client with the same name. Default: none. */
  readonly headers?: RequestHeaders | undefined;
  /**
   * Called before the call settles, with a plant or an error. It is not awaited, and its errors are
   * ignored. Default: none.
   */
  readonly onSettled?: ((report: Report) => unknown) | undefined;
};

/**
 * A client of one plant store; see {@link createClient}. The token is not a property of it. It can make
 * any number of calls at the same time.
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
   * @returns The stored plant as the service returns it, without the id. Creating the same plant again
   * succeeds; another plant with an existing id is `refused` as `id-taken`.
   */
  readonly createPlant: (
    newPlant: NewPlant,
    options?: CreatePlantOptions,
  ) => ResultAsync<Plant, CreatePlantError>;
};

/**
 * Creates a client of the plant store at a base URL. Sends nothing and never throws: if an option is
 * invalid, every call of the client returns `request-invalid` or `token-failed`.
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
