import { encodeNewPlant, isExactId } from '@plantstore/core/wire';
import { type Call, fail, type Outcome } from './call.ts';
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

/** The argument or option that is invalid, and its rule. */
type Invalid = Pick<RequestInvalid, 'reason' | 'message'>;

/** Returns the error for an invalid argument or option. */
export const failInvalid = (call: Call, invalid: Invalid): Outcome =>
  fail(call, { kind: 'request-invalid', ...invalid });

/** Returns the request of a call, or the reason why it is invalid. Of the plant, only the id is validated. */
export const prepareRequest = (
  settings: Settings,
  newPlant: NewPlant,
  options: unknown,
): PreparedRequest | Invalid => {
  const { url } = settings;
  if (url === undefined) {
    const message = 'baseUrl must be an absolute http(s) URL without user info, query or fragment';
    return { reason: 'base-url-invalid', message };
  }
  const body = undefinedOnThrow(() => {
    // Each member is read once, so that a getter cannot return one id to the check and another one later.
    const { id, name, tag } = newPlant;
    return isExactId(id) && encodeNewPlant({ id, name, tag });
  });
  if (body === undefined)
    return { reason: 'plant-unwritable', message: 'the plant must be valid in JSON' };
  if (body === false) {
    const message = 'id must be a bigint in int64 range, or a safe integer';
    return { reason: 'id-not-exact', message };
  }
  const caller = readMember(options, 'signal') ?? undefined;
  // A signal that could not abort the call is an error.
  if (caller !== undefined && !isSignal(caller))
    return { reason: 'signal-invalid', message: 'signal must be an AbortSignal' };
  // Looked up at each call, so that a globalThis.fetch that was patched later is used.
  const fetch = (settings.fetch ?? globalThis.fetch) as Fetch;
  if (!isFunction(fetch)) return { reason: 'fetch-invalid', message: 'fetch must be a function' };
  // Headers of the call take precedence. Read before the first await, so that later changes have no effect.
  const headers = [settings.headers, readMember(options, 'headers')].filter(Boolean);
  return { url, body, caller, fetch, headers, limits: readLimits(options, settings) };
};
