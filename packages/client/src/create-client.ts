import type { Plant } from '@plantstore/core';
import { ResultAsync } from 'neverthrow';
import { callService } from './call-service.ts';
import { type ClientOptions, readSettings } from './client-options.ts';
import type { CreatePlantError } from './create-plant-error.ts';

/**
 * What a single call may be told.
 *
 * @example
 * ```ts
 * import type { CreatePlantOptions } from '@plantstore/client';
 *
 * const controller = new AbortController();
 * export const options: CreatePlantOptions = { signal: controller.signal };
 * ```
 */
export type CreatePlantOptions = {
  /** Ends the call with the error `aborted`, in whatever phase it is. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Hears how many requests the call has started, just before its result is there: for a success too,
   * whose plant has no place for it. Not waited for, and what it throws is ignored. Default: none.
   */
  readonly onSettled?: ((settled: { readonly attempts: number }) => unknown) | undefined;
};

/**
 * A client of one plant store; see {@link createClient}. It keeps the token out of sight and can be
 * used for any number of calls at a time.
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
   * @returns The plant as the service answers it (without the id): it is stored durably. The same
   * plant may be created again; another plant under a taken id is `refused` as `id-taken`.
   */
  readonly createPlant: (
    newPlant: {
      /** An exact int64: a `bigint`, or a safe integer number. */
      readonly id: bigint | number;
      /** Any Unicode text without U+0000; the service judges it, not the client. */
      readonly name: string;
      /** Likewise, or absent. */
      readonly tag?: string | undefined;
    },
    options?: CreatePlantOptions,
  ) => ResultAsync<Plant, CreatePlantError>;
};

/**
 * Makes a client of the plant store at a base URL. Nothing is sent yet, and nothing is thrown:
 * a wrong option is what every call answers, as `request-invalid` or `token-failed`.
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
