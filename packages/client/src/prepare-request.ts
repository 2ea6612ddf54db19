import type { Settings } from './client-options.ts';
import type { RequestInvalid } from './create-plant-error.ts';
import { type PlantAsGiven, plantBody } from './plant-body.ts';
import { isFunction, isSignal, readMember } from './safely.ts';

/** What sends a request. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request in which everything that can be checked beforehand is right. */
export type PreparedRequest = {
  readonly url: string;
  readonly body: string;
  readonly caller: AbortSignal | undefined;
  readonly fetch: Fetch;
};

/** The request of a call, or what is wrong with it. */
export const prepareRequest = (
  { url, fetch: injected }: Settings,
  newPlant: PlantAsGiven,
  options: unknown,
): PreparedRequest | RequestInvalid['reason'] => {
  if (url === undefined) return 'base-url-invalid';
  const body = plantBody(newPlant);
  if (body === undefined) return 'plant-unwritable';
  if (body === '') return 'id-not-exact';
  const caller = readMember(options, 'signal') ?? undefined;
  // One that could not abort the call is refused.
  if (caller !== undefined && !isSignal(caller)) return 'signal-invalid';
  // Looked up at each call, so that a fetch patched later is the one that is called.
  const fetch = (injected ?? globalThis.fetch) as Fetch;
  return isFunction(fetch) ? { url, body, caller, fetch } : 'fetch-invalid';
};
