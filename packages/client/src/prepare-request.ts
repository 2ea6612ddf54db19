import { encodeNewPlant, isExactId } from '@plantstore/core/wire';
import { type Call, fail, type Outcome } from './call.ts';
import { type ClientOptions, type Numbers, readLimits, type Settings } from './client-options.ts';
import type { RequestInvalid } from './create-plant-error.ts';
import { isFunction, isSignal, undefinedOnThrow, readMember } from './untrusted.ts';
import type { NewPlant } from './plant.ts';

type Fetch = NonNullable<ClientOptions['fetch']>;

/** A request that was validated as far as possible before it is sent. */
export type PreparedRequest = Numbers & {
  readonly url: string;
  readonly body: string;
  readonly caller: AbortSignal | undefined;
  readonly fetch: Fetch;
  /** Sources of additional header fields, in order of precedence. */
  readonly headers: readonly unknown[];
};

type Reason = RequestInvalid['reason'];

const rules: Readonly<Record<Reason, string>> = {
  'id-not-exact': 'id must be a bigint in int64 range, or a safe integer',
  'plant-unwritable': 'the plant must be valid in JSON',
  'base-url-invalid':
    'baseUrl must be an absolute http(s) URL without user info, query or fragment',
  'headers-invalid': 'headers must be valid fields, or a function that returns them',
  'signal-invalid': 'signal must be an AbortSignal',
  'fetch-invalid': 'fetch must be a function',
};

/** Returns the error for an invalid argument or option. */
export const failInvalid = (call: Call, reason: Reason): Outcome =>
  fail(call, { kind: 'request-invalid', reason, message: rules[reason] });

/** Returns the request of a call, or the reason why it is invalid. Of the plant, only the id is validated. */
export const prepareRequest = (
  settings: Settings,
  newPlant: NewPlant,
  options: unknown,
): PreparedRequest | Reason => {
  const { url } = settings;
  if (url === undefined) return 'base-url-invalid';
  const body = undefinedOnThrow(() => {
    // Each member is read once, so that a getter cannot return one id to the check and another one later.
    const { id, name, tag } = newPlant;
    return isExactId(id) ? encodeNewPlant({ id, name, tag }) : '';
  });
  if (!body) return body === '' ? 'id-not-exact' : 'plant-unwritable';
  const caller = readMember(options, 'signal') ?? undefined;
  // A signal that could not abort the call is an error.
  if (caller !== undefined && !isSignal(caller)) return 'signal-invalid';
  // Looked up at each call, so that a globalThis.fetch that was patched later is used.
  const fetch = (settings.fetch ?? globalThis.fetch) as Fetch;
  if (!isFunction(fetch)) return 'fetch-invalid';
  // Headers of the call take precedence. Read before the first await, so that later changes have no effect.
  const headers = [readMember(options, 'headers'), settings.headers].filter(Boolean);
  return { url, body, caller, fetch, headers, ...readLimits(options, settings) };
};
