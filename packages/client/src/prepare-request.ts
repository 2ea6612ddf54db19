import { encodeNewPlant, isExactId } from '@plantstore/core/wire';
import { type Call, fail, type Outcome } from './call.ts';
import { type ClientOptions, type Numbers, readLimits, type Settings } from './client-options.ts';
import type { RequestInvalid } from './create-plant-error.ts';
import { isFunction, isSignal, orUndefined, readMember } from './lenient.ts';
import type { NewPlant } from './plant.ts';

type Fetch = NonNullable<ClientOptions['fetch']>;

/** A request whose parts are right, as far as that can be checked before it is sent. */
export type PreparedRequest = Numbers & {
  readonly url: string;
  readonly body: string;
  readonly caller: AbortSignal | undefined;
  readonly fetch: Fetch;
  /** Where further header fields come from, if from anywhere. */
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

/** Names the wrong option and its rule. */
export const refuse = (call: Call, reason: Reason): Outcome =>
  fail(call, { kind: 'request-invalid', reason, message: rules[reason] });

/** Returns the request of a call, or what is wrong with it. Only the plant's id is validated. */
export const prepareRequest = (
  settings: Settings,
  newPlant: NewPlant,
  options: unknown,
): PreparedRequest | Reason => {
  const { url } = settings;
  if (url === undefined) return 'base-url-invalid';
  const body = orUndefined(() => {
    // Each member is read once: a getter cannot return one id to the check and another to the wire.
    const { id, name, tag } = newPlant;
    return isExactId(id) ? encodeNewPlant({ id, name, tag }) : '';
  });
  if (!body) return body === '' ? 'id-not-exact' : 'plant-unwritable';
  const caller = readMember(options, 'signal') ?? undefined;
  // One that could not abort the call is refused.
  if (caller !== undefined && !isSignal(caller)) return 'signal-invalid';
  // Looked up at each call, so that a fetch that is patched later is used.
  const fetch = (settings.fetch ?? globalThis.fetch) as Fetch;
  if (!isFunction(fetch)) return 'fetch-invalid';
  // The call's come first, and before anything is waited for.
  const headers = [readMember(options, 'headers'), settings.headers].filter(Boolean);
  return { url, body, caller, fetch, headers, ...readLimits(options, settings) };
};
