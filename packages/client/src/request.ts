import { contentNames, isExactId } from '@plantstore/core/wire';
import { err, ok, type Result } from 'neverthrow';
import type { CreatePlantError } from './errors.ts';
import { invalid, tokenFailed } from './failures.ts';
import type { ClientOptions, CreatePlantOptions, RequestHeaders } from './options.ts';
import type { NewPlant } from './plant.ts';
import { type CallLimits, limitsOf, type Settings } from './settings.ts';
import type { SharedToken } from './token.ts';
import { isFunction, isSignal } from './untrusted.ts';

/** What a call sends, and how. */
export type PlantRequest = {
  readonly url: string;
  /** The plant as JSON. */
  readonly body: string;
  readonly fetch: NonNullable<ClientOptions['fetch']>;
  /** The token, or the function that returns it. */
  readonly token: string | SharedToken;
  /** Sources of additional header fields; later ones take precedence. */
  readonly headers: readonly RequestHeaders[];
  readonly signal: AbortSignal | undefined;
  readonly limits: CallLimits;
  readonly onRetry: ClientOptions['onRetry'];
};

/**
 * Returns a request that can be sent, or the error for what is invalid. Of the plant, only the id
 * is validated.
 */
export function prepareRequest(
  settings: Settings,
  newPlant: NewPlant,
  options: CreatePlantOptions,
): Result<PlantRequest, CreatePlantError> {
  const { url, token, onRetry } = settings;
  if (url === undefined) return invalid('base-url-invalid', baseUrlRule);
  const body = encodePlant(newPlant);
  if (body.isErr()) return err(body.error);
  const signal = options.signal ?? undefined;
  // A signal that could not abort the call is an error.
  if (signal !== undefined && !isSignal(signal))
    return invalid('signal-invalid', 'signal must be an AbortSignal');
  // Looked up at each call, so that a globalThis.fetch that was patched later is used.
  const { fetch = globalThis.fetch } = settings;
  if (!isFunction(fetch)) return invalid('fetch-invalid', 'fetch must be a function');
  if (token.isErr()) return err(tokenFailed(unsent, token.error));
  return ok({
    url,
    body: body.value,
    fetch,
    token: token.value,
    headers: [settings.headers, options.headers].filter((source) => !!source),
    signal,
    limits: limitsOf(options, settings.limits),
    onRetry,
  });
}

const baseUrlRule = 'baseUrl must be an absolute http(s) URL without user info';

/** The state of a call before its first attempt. */
const unsent = { report: { attempts: 0 }, tokens: [] };

/**
 * Returns a plant as JSON, with its id as an exact number. Each member is read once, so that a
 * getter cannot return one id to the check and another one later.
 */
function encodePlant(newPlant: NewPlant): Result<string, CreatePlantError> {
  let current: keyof NewPlant = 'id';
  try {
    const { id } = newPlant;
    if (!isExactId(id))
      return invalid('id-not-exact', 'id must be a bigint in int64 range, or a safe integer');
    let json = `{"id":${id}`;
    for (current of contentNames) {
      // `undefined` for what JSON omits.
      const value: string | undefined = JSON.stringify(newPlant[current]);
      if (value !== undefined) json += `,"${current}":${value}`;
    }
    return ok(`${json}}`);
  } catch {
    return invalid('plant-unwritable', `${current} must be JSON`);
  }
}
