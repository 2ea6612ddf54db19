import { copyPlant, encodeNewPlant, isExactId } from '@plantstore/core/wire';
import { type ClientOptions, type Numbers, readLimits, type Settings } from './client-options.ts';
import type { RequestInvalid } from './create-plant-error.ts';
import { isFunction, isSignal, undefinedOnThrow, readMember } from './untrusted.ts';
import type { NewPlant } from './plant.ts';

type Fetch = NonNullable<ClientOptions['fetch']>;

/** A request that was validated as far as possible before it is sent. */
export type PreparedRequest = {
  readonly url: string;
  readonly body: string;
  readonly caller: AbortSignal | undefined;
  readonly fetch: Fetch;
  /** Sources of additional header fields, in order of precedence. */
  readonly headers: readonly unknown[];
  readonly limits: Numbers;
};

type Invalid = Omit<RequestInvalid, 'attempts'>;

/** Returns the error for an invalid argument or option, without the report of its call. */
export const invalid = (reason: Invalid['reason'], message: string): Invalid => ({
  kind: 'request-invalid',
  reason,
  message,
});

/** Returns the request of a call, or the error if it is invalid. Of the plant, only the id is validated. */
export const prepareRequest = (
  settings: Settings,
  newPlant: NewPlant,
  options: unknown,
): PreparedRequest | Invalid => {
  const { url } = settings;
  if (url === undefined)
    return invalid(
      'base-url-invalid',
      'baseUrl must be an absolute http(s) URL without user info, query or fragment',
    );
  const body = undefinedOnThrow(() => {
    // Each member is read once, so that a getter cannot return one id to the check and another one later.
    const plant = copyPlant(newPlant);
    return isExactId(plant.id) && encodeNewPlant(plant);
  });
  if (body === undefined) return invalid('plant-unwritable', 'the plant must be valid in JSON');
  if (body === false)
    return invalid('id-not-exact', 'id must be a bigint in int64 range, or a safe integer');
  const caller = readMember(options, 'signal') ?? undefined;
  // A signal that could not abort the call is an error.
  if (caller !== undefined && !isSignal(caller))
    return invalid('signal-invalid', 'signal must be an AbortSignal');
  // Looked up at each call, so that a globalThis.fetch that was patched later is used.
  const fetch = (settings.fetch ?? globalThis.fetch) as Fetch;
  if (!isFunction(fetch)) return invalid('fetch-invalid', 'fetch must be a function');
  // Headers of the call take precedence. Read before the first await, so that later changes have no effect.
  const headers = [settings.headers, readMember(options, 'headers')].filter(Boolean);
  return { url, body, caller, fetch, headers, limits: readLimits(options, settings.limits) };
};
