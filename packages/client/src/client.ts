import { err, ResultAsync } from 'neverthrow';
import { Call } from './call.ts';
import type { CreatePlantError, Outcome, Report } from './errors.ts';
import { describeCause, invalid } from './failures.ts';
import type { ClientOptions, CreatePlantOptions } from './options.ts';
import type { NewPlant, Plant } from './plant.ts';
import { prepareRequest } from './request.ts';
import { readSettings, type Settings } from './settings.ts';
import { ignoreErrors, undefinedOnThrow } from './untrusted.ts';

/**
 * Creates a client of the plant store at a base URL. Sends nothing and never throws: if an option
 * is invalid, every call of the client returns `request-invalid` or `token-failed`.
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
export function createClient(options: ClientOptions): PlantClient {
  // Options that cannot be read are as good as none.
  const settings = undefinedOnThrow(() => readSettings(options)) ?? readSettings(noOptions);
  return {
    createPlant: (newPlant, callOptions) =>
      new ResultAsync(createPlant(settings, newPlant, callOptions)),
  };
}

const noOptions = { baseUrl: '', token: '' };

/** Makes a call, and reports it; never rejects. */
async function createPlant(
  settings: Settings,
  newPlant: NewPlant,
  options: CreatePlantOptions = {},
): Promise<Outcome> {
  let call: Call | undefined;
  try {
    const request = prepareRequest(settings, newPlant, options);
    if (request.isErr()) return err(request.error);
    call = new Call(request.value);
    return await call.run();
  } catch (thrown) {
    // Only an API that is missing, or options that are no objects or throw when they are read.
    return invalid('fetch-invalid', describeCause(thrown, []).message);
  } finally {
    const report: Report = call?.report ?? { attempts: 0 };
    void ignoreErrors(() => options.onSettled?.(report));
  }
}

/**
 * A client of one plant store; see {@link createClient}. The token is not a property of it. It can
 * make any number of calls at the same time.
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
   * @returns The stored plant as the service returns it, without the id. Creating the same plant
   * again succeeds; another plant with an existing id is `refused` as `id-taken`.
   */
  readonly createPlant: (
    newPlant: NewPlant,
    options?: CreatePlantOptions,
  ) => ResultAsync<Plant, CreatePlantError>;
};
